// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which of the blocks that move during a reading are taken, and which are lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>

#include "loader/tables/moved_blocks.h"

#define NUMBER MEMLEAK_READING_FIRST
#define UNTIL_NS 1000
/* birth times of blocks; block__set_reading() may change their lower bits */
#define OLD_NS (5ULL << MEMLEAK_READING_LOW_BITS)
#define YOUNG_NS (6ULL << MEMLEAK_READING_LOW_BITS)

static struct memleak_reading shared;
static uint64_t taken_cnt, taken_sum;

static int count_taken(void *arg, const struct memleak_handed *handed)
{
	(void)arg;
	taken_cnt++;
	taken_sum += handed->key.addr;
	return 0;
}

/* Does what reading__hand() does. number: 0 for an entry that is not completely written. */
static void hand_born(uint64_t addr, uint64_t old_addr, uint64_t number, uint64_t birth_ns)
{
	uint32_t at = shared.handed_cnt++;
	struct memleak_handed *entry = &shared.handed[at % MEMLEAK_HANDED_MAX];

	if (at - shared.taken_cnt >= MEMLEAK_HANDED_MAX)
		return;
	*entry = (struct memleak_handed){
		.key = {.addr = addr, .image = 1},
		.block = {.birth_ns = birth_ns},
		.old_addr = old_addr,
		.number = number,
	};
}

static void hand(uint64_t addr, uint64_t old_addr, uint64_t number)
{
	hand_born(addr, old_addr, number, OLD_NS + 1);
}

static void read_block(struct moved_blocks *moved, uint64_t addr, uint32_t image, uint64_t birth_ns)
{
	const struct memleak_block_key key = {.addr = addr, .image = image};
	const struct memleak_block block = {.birth_ns = birth_ns};

	assert_int_equal(moved_blocks_add_read(moved, &key, &block), 0);
}

static void begin(struct moved_blocks *moved)
{
	taken_cnt = taken_sum = 0;
	moved_blocks_begin(moved, &shared, NUMBER, UNTIL_NS);
	assert_int_equal(shared.number, NUMBER);
	assert_int_equal(shared.until_ns, UNTIL_NS);
}

static void end(struct moved_blocks *moved)
{
	assert_int_equal(moved_blocks_end(moved, count_taken, NULL), 0);
	assert_int_equal(shared.number, 0);
	assert_int_equal(shared.taken_cnt, shared.handed_cnt);
}

/* A block is taken unless it was read at its old address. */
static void read_or_not(void **state)
{
	struct moved_blocks moved;

	(void)state;
	begin(&moved);
	read_block(&moved, 0x20, 1, OLD_NS);
	read_block(&moved, 0x30, 2, OLD_NS);
	read_block(&moved, 0x40, 1, YOUNG_NS);
	hand(0x2000, 0x20, NUMBER); /* read */
	hand(0x3000, 0x30, NUMBER); /* a block of another image was read */
	hand(0x4000, 0x40, NUMBER); /* a younger block with this address was read */
	hand(0x5000, 0x50, NUMBER); /* not read */
	hand(0x6000, 0, NUMBER);    /* known to be unread */
	read_block(&moved, 0x60, 1, OLD_NS);
	end(&moved);
	assert_int_equal(taken_cnt, 4);
	assert_int_equal(taken_sum, 0x3000 + 0x4000 + 0x5000 + 0x6000);
	assert_int_equal(moved.lost, 0);
	moved_blocks_deinit(&moved);
}

/* After a block was read and has moved, a younger block gets its address and moves, too. */
static void same_old_address(void **state)
{
	struct moved_blocks moved;

	(void)state;
	begin(&moved);
	read_block(&moved, 0x10, 1, OLD_NS);
	hand(0x1000, 0x10, NUMBER);
	hand_born(0x2000, 0x10, NUMBER, YOUNG_NS);
	end(&moved);
	assert_int_equal(taken_cnt, 1);
	assert_int_equal(taken_sum, 0x2000);
	moved_blocks_deinit(&moved);
}

/* The ring is used again and again, and entries of an earlier reading are not taken. */
static void many_rounds(void **state)
{
	const uint32_t rounds = 5, cnt = MEMLEAK_HANDED_MAX - 1;
	struct moved_blocks moved;

	(void)state;
	hand(1, 0, NUMBER - 1);
	begin(&moved);
	for (uint32_t i = 0; i < rounds; i++) {
		for (uint32_t j = 0; j < cnt; j++)
			hand(1, 0, NUMBER);
		assert_int_equal(moved_blocks_copy(&moved), 0);
	}
	end(&moved);
	assert_int_equal(taken_cnt, rounds * cnt);
	assert_int_equal(moved.lost, 0);
	moved_blocks_deinit(&moved);
}

static void overflow(void **state)
{
	struct moved_blocks moved;

	(void)state;
	begin(&moved);
	for (uint32_t i = 0; i < MEMLEAK_HANDED_MAX + 3; i++)
		hand(1, 0, NUMBER);
	assert_int_equal(moved_blocks_copy(&moved), 0);
	assert_int_equal(moved.lost, 3);
	hand(1, 0, NUMBER);
	end(&moved);
	assert_int_equal(moved.lost, 3);
	assert_int_equal(taken_cnt, MEMLEAK_HANDED_MAX + 1);
	moved_blocks_deinit(&moved);
}

/* An entry that is still being written is waited for, and counts as lost in the end. */
static void incomplete_entry(void **state)
{
	struct moved_blocks moved;
	uint32_t at;

	(void)state;
	begin(&moved);
	at = shared.handed_cnt;
	hand(1, 0, 0);
	hand(2, 0, NUMBER);
	assert_int_equal(moved_blocks_copy(&moved), 0);
	assert_int_equal(moved.cnt, 0);
	shared.handed[at % MEMLEAK_HANDED_MAX].number = NUMBER;
	assert_int_equal(moved_blocks_copy(&moved), 0);
	assert_int_equal(moved.cnt, 2);
	hand(4, 0, 0);
	hand(8, 0, NUMBER);
	end(&moved);
	assert_int_equal(taken_sum, 1 + 2 + 8);
	assert_int_equal(moved.lost, 1);
	moved_blocks_deinit(&moved);
}

/* A source whose blocks never move. */
static void nothing_shared(void **state)
{
	struct moved_blocks moved;

	(void)state;
	moved_blocks_begin(&moved, NULL, NUMBER, UNTIL_NS);
	read_block(&moved, 0x20, 1, 1);
	assert_int_equal(moved_blocks_copy(&moved), 0);
	assert_int_equal(moved_blocks_end(&moved, count_taken, NULL), 0);
	moved_blocks_deinit(&moved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_or_not),      cmocka_unit_test(same_old_address),
		cmocka_unit_test(many_rounds),      cmocka_unit_test(overflow),
		cmocka_unit_test(incomplete_entry), cmocka_unit_test(nothing_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
