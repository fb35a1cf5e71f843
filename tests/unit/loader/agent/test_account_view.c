// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests reading the agent's shared memory (its account) with invalid contents, as a hostile target
 * can write: nothing invalid may be accepted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/memleak.h"
#include "loader/agent/account_view.h"
#include "loader/target/mapped_ranges.h"
#include "tests/unit/lib/random.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define BYTES ((uint64_t)64 << 20)

/*
 * Makes an account of 64 MiB and writes the start of its first epoch, as the agent does. Each
 * region has one page, except the last region, which has the remaining pages.
 */
static struct account *make_account(int *ret_fd)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct account *account;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)BYTES), 0);
	account = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(account, MAP_FAILED);
	account->magic = ACCOUNT_MAGIC;
	account->bytes = BYTES;
	for (unsigned int i = 0; i < ACCOUNT_REGION_CNT; i++)
		account->region[i] = 4096ULL * (i + 1);
	account->end = BYTES;
	*(__u64 *)((char *)account + account->region[ACCOUNT_EPOCH_TIMES]) = 1;
	*ret_fd = fd;
	return account;
}

static void seal(int fd)
{
	assert_int_equal(fcntl(fd, F_ADD_SEALS, SEALS), 0);
}

static void *region_of(struct account *account, enum account_region which)
{
	return (char *)account + account->region[which];
}

static int count_block(void *arg, const struct account_block *block)
{
	(*(size_t *)arg)++;
	return 0;
}

static void test_not_sealed(void **state)
{
	struct account_view view;
	int fd;
	struct account *account = make_account(&fd);

	assert_int_equal(account_view_init(fd, &view), -EPROTO);
	munmap(account, BYTES);
}

static void test_layout(void **state)
{
	struct account_view view;

	for (unsigned int i = 0; i <= ACCOUNT_REGION_CNT; i++) {
		int fd;
		struct account *account = make_account(&fd);

		seal(fd);
		if (i < ACCOUNT_REGION_CNT)
			account->region[i] = i % 2 ? BYTES + 4096 : 0;
		else
			account->bytes = BYTES - 1;
		assert_int_equal(account_view_init(fd, &view), -EPROTO);
		munmap(account, BYTES);
	}
}

/*
 * An account is refused if its event ring is larger than the agent makes it, or if it is sealed
 * against writing.
 */
static void test_no_agents_own(void **state)
{
	struct account_view view;

	for (unsigned int what = 0; what < 2; what++) {
		int fd;
		struct account *account = make_account(&fd);

		for (unsigned int i = ACCOUNT_TRACE; what == 0 && i < ACCOUNT_REGION_CNT; i++)
			account->region[i] = BYTES - 4096ULL * (ACCOUNT_REGION_CNT - i);
		munmap(account, BYTES);
		if (what == 1)
			assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
		seal(fd);
		assert_int_equal(account_view_init(fd, &view), -EPROTO);
	}
}

static void test_block(void **state)
{
	struct account_view view;
	size_t cnt = 0;
	int fd;
	struct account *account = make_account(&fd);
	struct account_chunk *chunk = region_of(account, ACCOUNT_CHUNKS);

	account->chunk_cnt = 1;
	chunk->base = ACCOUNT_CHUNK_SPAN * 7;
	chunk->lines[3].cells[2].block = ACCOUNT_CELL(5, 100, 4);
	chunk->lines[3].cells[2].life = ACCOUNT_LIFE(1ULL, 0, 77ULL);
	/*
	 * A chunk says which spills (extra cells) its lines have. memleak ignores this, since each
	 * spill itself has the number of the line that it belongs to.
	 */
	chunk->spills[9] = UINT32_MAX;
	seal(fd);
	assert_int_equal(account_view_init(fd, &view), 0);
	assert_int_equal(account_view_blocks(&view, count_block, &cnt), 0);
	assert_int_equal(cnt, 1);
	account_view_deinit(&view);
	munmap(account, BYTES);
}

/*
 * A birth time is the start of its clock tick, or the start of the block's epoch if the epoch began
 * later in that tick. A block has only the low bits of its epoch, and the account has start times
 * of recent epochs only.
 */
static void test_births(void **state)
{
	static const uint64_t tick_ns = 1ULL << ACCOUNT_BIRTH_NS_SHIFT, fork_ns = 700000;
	static const uint64_t first_ns = 1000 * tick_ns;
	static const uint32_t timed = 4096 / sizeof(__u64), forks = 3 * timed;
	struct account_view view;
	struct account_block block;
	int fd;
	struct account *account = make_account(&fd);
	__u64 *times = region_of(account, ACCOUNT_EPOCH_TIMES);

	for (uint32_t i = 0; i <= forks; i++)
		times[i % timed] = first_ns + i * fork_ns;
	account->epoch = forks;
	seal(fd);
	assert_int_equal(account_view_init(fd, &view), 0);
	for (uint32_t i = 0; i < forks; i++) {
		uint64_t birth_ns = first_ns + i * fork_ns;
		uint64_t birth = ACCOUNT_BIRTH(birth_ns);

		account_view_block(&view, 0, ACCOUNT_CELL(5, 100, 0), ACCOUNT_LIFE(birth, i, 0ULL),
				   &block);
		if (forks - i < timed)
			assert_int_equal(block.birth_ns, birth_ns);
		else
			assert_int_equal(block.birth_ns, birth << ACCOUNT_BIRTH_NS_SHIFT);
	}
	account_view_deinit(&view);
	munmap(account, BYTES);
}

static int keep_addr(void *arg, const struct account_block *block)
{
	*(uint64_t *)arg = block->addr;
	return 0;
}

/* Only pages that were written to are read, even if the account claims far more elements. */
static void test_spill(void **state)
{
	struct account_view view;
	uint64_t addr = 0;
	struct stat before, after;
	int fd;
	struct account *account = make_account(&fd);
	struct account_spill *spills = region_of(account, ACCOUNT_SPILLS);

	account->spill_cnt = account->chunk_cnt = account->thread_cnt = UINT32_MAX;
	account->range_cnt = UINT64_MAX;
	spills[3].line = 1000;
	spills[3].cells[5].block = ACCOUNT_CELL(5, 100, 4);
	spills[3].cells[5].life = ACCOUNT_LIFE(1ULL, 0, 0ULL);
	seal(fd);
	assert_int_equal(account_view_init(fd, &view), 0);
	assert_int_equal(fstat(fd, &before), 0);
	assert_int_equal(account_view_blocks(&view, keep_addr, &addr), 0);
	assert_int_equal(fstat(fd, &after), 0);
	assert_int_equal(addr, ACCOUNT_LINE_SPAN * 1000 + 4 * ACCOUNT_POSITION_SPAN);
	assert_int_equal(after.st_blocks, before.st_blocks);
	account_view_deinit(&view);
	munmap(account, BYTES);
}

/* Ranges that are out of order are ignored, and an invalid kind is replaced by a valid one. */
static void test_ranges(void **state)
{
	struct account_view view;
	struct ranges ranges;
	int fd;
	struct account *account = make_account(&fd);
	struct account_range *kept = region_of(account, ACCOUNT_RANGES);

	account->range_cnt = UINT64_MAX;
	kept[0] = (struct account_range){.start = 0x1000, .end = 0x2000, .kind = UINT32_MAX};
	kept[1] = (struct account_range){.start = 0x4000, .end = 0x5000};
	kept[2] = (struct account_range){.start = 0x3000, .end = 0x4000};
	seal(fd);
	assert_int_equal(account_view_init(fd, &view), 0);
	ranges_init(&ranges, 4096, 1ULL << 30);
	assert_int_equal(account_view_take_ranges(&view, &ranges), 0);
	assert_int_equal(ranges.cnt, 2);
	assert_true(ranges.items[0].kind < MEMLEAK_KIND_CNT);
	ranges_deinit(&ranges);
	account_view_deinit(&view);
	munmap(account, BYTES);
}

/* Adds a chain of cnt frames. The outermost one has the number `first`. */
static void add_frames(struct account *account, uint32_t first, uint32_t cnt, unsigned int end)
{
	struct account_frame *frames = region_of(account, ACCOUNT_FRAMES);

	for (uint32_t i = 0; i < cnt; i++)
		frames[first + i] = (struct account_frame){
			.frame = 100 + i,
			.parent = i ? first + i - 1 : ACCOUNT_STACK_END(end),
		};
}

static void test_stack(void **state)
{
	const uint32_t first = ACCOUNT_STACK_ENDS + 3;
	struct script_frames scripts;
	struct account_view view;
	uint64_t frames[8];
	unsigned int end;
	int fd;
	struct account *account = make_account(&fd);
	struct account_frame *tree = region_of(account, ACCOUNT_FRAMES);

	account->depth = 6;
	add_frames(account, first, 8, UNWIND_END_COMPLETE);
	seal(fd);
	assert_int_equal(account_view_init(fd, &view), 0);
	assert_int_equal(account_view_stack(&view, first + 2, frames, 8, &scripts, &end), 3);
	assert_int_equal(end, UNWIND_END_COMPLETE);
	assert_int_equal(frames[0], 102);
	assert_int_equal(frames[2], 100);
	assert_int_equal(account_view_stack(&view, first + 3, frames, 4, &scripts, &end), 4);
	assert_int_equal(end, UNWIND_END_COMPLETE);
	/* A stack is truncated if it is deeper than the buffer or than the depth in the account. */
	assert_int_equal(account_view_stack(&view, first + 5, frames, 4, &scripts, &end), 4);
	assert_int_equal(end, UNWIND_END_TRUNCATED);
	assert_int_equal(account_view_stack(&view, first + 7, frames, 8, &scripts, &end), 6);
	assert_int_equal(end, UNWIND_END_TRUNCATED);
	assert_int_equal(account_view_stack(&view, ACCOUNT_NO_STACK, frames, 8, &scripts, &end), 0);
	assert_int_equal(end, UNWIND_END_UNKNOWN);
	/*
	 * Invalid numbers of frames: the frame is unused, its chain of callers is circular, or the
	 * number is out of range.
	 */
	assert_int_equal(account_view_stack(&view, 0, frames, 8, &scripts, &end), 0);
	assert_int_equal(account_view_stack(&view, first - 1, frames, 8, &scripts, &end), 0);
	assert_int_equal(account_view_stack(&view, UINT32_MAX, frames, 8, &scripts, &end), 0);
	tree[first].parent = first + 2;
	assert_int_equal(account_view_stack(&view, first + 2, frames, 8, &scripts, &end), 0);
	tree[first].parent = UINT32_MAX;
	assert_int_equal(account_view_stack(&view, first + 2, frames, 8, &scripts, &end), 0);
	account_view_deinit(&view);
	munmap(account, BYTES);
}

/*
 * Script frames are not counted as native frames. A script frame names its code object by an offset
 * in the account file. The offset is 0 if the account has no copy of the code object.
 */
static void test_scripts(void **state)
{
	const uint32_t first = ACCOUNT_STACK_ENDS;
	struct script_frames scripts;
	struct account_view view;
	uint64_t frames[8];
	unsigned int end;
	int fd;
	struct account *account = make_account(&fd);
	struct account_frame *tree = region_of(account, ACCOUNT_FRAMES);
	struct account_code *code = region_of(account, ACCOUNT_CODES);

	account->depth = 8;
	add_frames(account, first, 4, UNWIND_END_COMPLETE);
	code[3].cookie = 77;
	tree[first + 2].frame =
		ACCOUNT_SCRIPT_FRAME(4, 20) | MEMLEAK_FRAME_EXACT | ACCOUNT_SCRIPT_CUT;
	tree[first + 3].frame = ACCOUNT_SCRIPT_FRAME((1 << 27) - 1, UINT32_MAX);
	seal(fd);
	assert_int_equal(account_view_init(fd, &view), 0);
	assert_int_equal(account_view_stack(&view, first + 3, frames, 2, &scripts, &end), 2);
	assert_int_equal(end, UNWIND_END_COMPLETE);
	assert_int_equal(frames[0], 101);
	assert_int_equal(scripts.cnt, 2);
	assert_int_equal(scripts.items[0].code, 0);
	assert_int_equal(scripts.items[0].instr, UINT32_MAX);
	assert_false(scripts.items[0].code & MEMLEAK_SCRIPT_CUT);
	assert_int_equal(scripts.items[1].code, (view.region[ACCOUNT_CODES] + 64) |
							MEMLEAK_SCRIPT_BORDER | MEMLEAK_SCRIPT_CUT);
	assert_int_equal(scripts.items[1].instr, 20);
	assert_int_equal(scripts.items[1].cookie, 77);
	account_view_deinit(&view);
	munmap(account, BYTES);
}

/* An interpreter's module is found by its address, regardless of its name. */
static void test_interpreter(void **state)
{
	const struct account_module module = {.start = 0x1000, .end = 0x3000};
	static const uint64_t inside[] = {0x1000, 0x2fff}, outside[] = {0, 0xfff, 0x3000};
	struct account_view view;
	int fd;
	struct account *account = make_account(&fd);

	seal(fd);
	assert_int_equal(account_view_init(fd, &view), 0);
	for (size_t i = 0; i < 2; i++) {
		account->interpreter = inside[i];
		assert_true(account_view_runs_scripts(&view, &module));
	}
	for (size_t i = 0; i < 3; i++) {
		account->interpreter = outside[i];
		assert_false(account_view_runs_scripts(&view, &module));
	}
	account_view_deinit(&view);
	munmap(account, BYTES);
}

/* A forged stack is truncated to MEMLEAK_SCRIPT_FRAMES_MAX. */
static void test_many_scripts(void **state)
{
	const uint32_t first = ACCOUNT_STACK_ENDS, cnt = MEMLEAK_SCRIPT_FRAMES_MAX + 9;
	struct script_frames scripts;
	struct account_view view;
	uint64_t frames[1];
	unsigned int end;
	int fd;
	struct account *account = make_account(&fd);
	struct account_frame *tree = region_of(account, ACCOUNT_FRAMES);

	account->depth = 8;
	add_frames(account, first, cnt, UNWIND_END_COMPLETE);
	for (uint32_t i = 0; i < cnt; i++)
		tree[first + i].frame = ACCOUNT_SCRIPT_FRAME(0, i);
	seal(fd);
	assert_int_equal(account_view_init(fd, &view), 0);
	assert_int_equal(account_view_stack(&view, first + cnt - 1, frames, 1, &scripts, &end), 0);
	assert_int_equal(scripts.cnt, MEMLEAK_SCRIPT_FRAMES_MAX);
	assert_int_equal(scripts.items[0].instr, cnt - 1);
	account_view_deinit(&view);
	munmap(account, BYTES);
}

/*
 * Accounts with random contents: nothing outside of the account is read, and reading always ends.
 */
static void test_noise(void **state)
{
	uint64_t seed = 1;

	for (int round = 0; round < 40; round++) {
		struct account_view view;
		int fd;
		struct account *account = make_account(&fd);
		uint64_t frames[8];
		struct script_frames scripts;
		struct account_totals totals;
		struct account_module module;
		struct account_event event;
		struct account_traced traced;
		unsigned int end;
		char path[16];
		size_t cnt = 0;

		for (uint64_t at = offsetof(struct account, began_ns); at < 1 << 20; at += 8)
			*(uint64_t *)((char *)account + at) =
				random_next(&seed) % 4 ? random_next(&seed) : 0;
		seal(fd);
		assert_int_equal(account_view_init(fd, &view), 0);
		assert_int_equal(account_view_blocks(&view, count_block, &cnt), 0);
		for (uint32_t i = 0; i < 64; i++) {
			uint32_t number = (uint32_t)random_next(&seed);

			account_view_stack(&view, number, frames, 8, &scripts, &end);
			account_view_stack(&view, i, frames, 8, &scripts, &end);
			account_view_module(&view, i, &module, path, sizeof(path));
			account_view_module(&view, number, &module, path, sizeof(path));
			account_view_tid(&view, number);
			account_view_event(&view, i % 2, &event);
			if (account_view_traced(&view, i % 2, &traced))
				account_view_take_traced(&view);
		}
		account_view_totals(&view, &totals);
		account_view_deinit(&view);
		munmap(account, BYTES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_sealed),    cmocka_unit_test(test_layout),
		cmocka_unit_test(test_no_agents_own), cmocka_unit_test(test_block),
		cmocka_unit_test(test_stack),         cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_many_scripts),  cmocka_unit_test(test_noise),
		cmocka_unit_test(test_births),        cmocka_unit_test(test_spill),
		cmocka_unit_test(test_ranges),        cmocka_unit_test(test_interpreter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
