// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies blocks from the ring `handed`, and looks for them among all blocks that were read: when a
 * block is handed over, neither side knows whether it was read.
 */
#include "loader/tables/moved_blocks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/hash_map.h"

/* Maximum time, in milliseconds, to wait for BPF programs that are writing entries at the end. */
#define WAIT_MS 100

void moved_blocks_begin(struct moved_blocks *moved, volatile struct memleak_reading *shared,
			uint32_t number, uint64_t until_ns)
{
	*moved = (struct moved_blocks){.shared = shared, .number = number};
	if (!shared)
		return;
	shared->read_cnt = 0;
	shared->until_ns = until_ns;
	moved->taken = shared->handed_cnt;
	shared->taken_cnt = moved->taken;
	__atomic_store_n(&shared->number, number, __ATOMIC_SEQ_CST);
}

/*
 * Returns a hash of a block's address, image and birth time. The birth time matters because another
 * block may have got the address since, and may have moved too. Leaves out the bits of the birth
 * time that block__set_reading() changes.
 */
static uint64_t hash_of(uint64_t addr, uint32_t image, uint64_t birth_ns)
{
	return hash_mix(hash_mix(addr, image), birth_ns >> MEMLEAK_READING_LOW_BITS);
}

int moved_blocks_add_read(struct moved_blocks *moved, const struct memleak_block_key *key,
			  const struct memleak_block *block)
{
	if (!moved->shared)
		return 0;
	if (array_reserve(&moved->read, &moved->read_cap, moved->read_cnt + 1))
		return -ENOMEM;
	moved->read[moved->read_cnt++] = hash_of(key->addr, key->image, block->birth_ns);
	return 0;
}

/* Copies the next entry and frees its place. Returns -EAGAIN if it is not completely written. */
static int copy_next(struct moved_blocks *moved)
{
	volatile struct memleak_handed *entry =
		&moved->shared->handed[moved->taken % MEMLEAK_HANDED_MAX];

	if (__atomic_load_n(&entry->number, __ATOMIC_ACQUIRE) != moved->number)
		return -EAGAIN;
	if (array_reserve(&moved->items, &moved->cap, moved->cnt + 1))
		return -ENOMEM;
	moved->items[moved->cnt++] = *entry;
	entry->number = 0;
	moved->taken++;
	return 0;
}

/*
 * Copies entries up to `end`. After an overflow, entries may be missing anywhere: they are lost,
 * just like entries that are still being written.
 */
static int copy_until(struct moved_blocks *moved, uint32_t end, bool has_gaps)
{
	int err = 0;

	while (!err && moved->taken != end) {
		err = copy_next(moved);
		if (err == -EAGAIN && has_gaps) {
			moved->lost++;
			moved->taken++;
			err = 0;
		}
	}
	__atomic_store_n(&moved->shared->taken_cnt, moved->taken, __ATOMIC_RELEASE);
	return err;
}

int moved_blocks_copy(struct moved_blocks *moved)
{
	uint32_t end;
	int err;

	if (!moved->shared)
		return 0;
	end = moved->shared->handed_cnt;
	err = copy_until(moved, end, end - moved->taken > MEMLEAK_HANDED_MAX);
	return err == -EAGAIN ? 0 : err;
}

/* Makes the BPF programs hand over no more blocks, and copies the last ones. */
static int finish(struct moved_blocks *moved)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};
	int err = 0;

	__atomic_store_n(&moved->shared->number, 0, __ATOMIC_SEQ_CST);
	for (int i = 0; i < WAIT_MS && !err; i++) {
		err = moved_blocks_copy(moved);
		if (moved->taken == moved->shared->handed_cnt)
			return err;
		nanosleep(&millisecond, NULL);
	}
	return err ? err : copy_until(moved, moved->shared->handed_cnt, true);
}

/* Sets `number` of each entry to whether its block was read at its old address. */
static int mark_read(struct moved_blocks *moved)
{
	struct hash_map asked = {0};
	int err = 0;

	for (size_t i = 0; !err && i < moved->cnt; i++) {
		struct memleak_handed *item = &moved->items[i];

		item->number = false;
		if (item->old_addr)
			err = hash_map_set(
				&asked,
				hash_of(item->old_addr, item->key.image, item->block.birth_ns),
				item);
	}
	for (size_t i = 0; !err && asked.cnt && i < moved->read_cnt; i++) {
		struct memleak_handed *item = hash_map_get(&asked, moved->read[i]);

		if (item)
			item->number = true;
	}
	hash_map_deinit(&asked);
	return err;
}

int moved_blocks_end(struct moved_blocks *moved,
		     int (*take)(void *arg, const struct memleak_handed *handed), void *arg)
{
	int err = moved->shared ? finish(moved) : 0;

	if (!err)
		err = mark_read(moved);
	for (size_t i = 0; !err && i < moved->cnt; i++)
		if (!moved->items[i].number)
			err = take(arg, &moved->items[i]);
	return err;
}

void moved_blocks_deinit(struct moved_blocks *moved)
{
	if (moved->shared)
		__atomic_store_n(&moved->shared->number, 0, __ATOMIC_SEQ_CST);
	free(moved->items);
	free(moved->read);
	*moved = (struct moved_blocks){0};
}
