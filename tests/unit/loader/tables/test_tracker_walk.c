// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests reading the block table: each block once, and less of it after a deadline, or if memleak is
 * asked to end. Uses a table that no BPF program fills.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/signals.h"
#include "bpf/memleak.h"
#include "loader/tables/tracker_walk.h"

#define BLOCKS 100

static struct options opts;
static struct memleak_recent bucket, seen;
static uint64_t seen_bits;
static struct memleak_filter filter;
static unsigned int visited;
static struct memleak_reading reading;
static unsigned int unwritten; /* blocks that begin to move during the walk */

/* Counts the blocks, and leaves them out. */
static bool no_owner(void *arg, uint32_t image, struct block_owner *ret)
{
	(void)arg;
	(void)image;
	(void)ret;
	visited++;
	reading.handed_cnt += unwritten;
	unwritten = 0;
	return false;
}

static struct tracker tracker = {
	.walker = {.opts = &opts, .owner = no_owner},
	.blocks = {.second_fd = -1},
	.recent = {.buckets = &bucket,
		   .bucket_cnt = 1,
		   .filter = &filter,
		   .filter_cnt = 1,
		   .seen = &seen,
		   .seen_bits = &seen_bits},
};

static int set_up(void **state)
{
	struct memleak_block block = {.size = 1};

	(void)state;
	tracker.blocks.first_fd =
		bpf_map_create(BPF_MAP_TYPE_HASH, "blocks", sizeof(struct memleak_block_key),
			       sizeof(block), BLOCKS, NULL);
	for (uint64_t i = 0; tracker.blocks.first_fd >= 0 && i < BLOCKS; i++) {
		struct memleak_block_key key = {.addr = 16 * (i + 1), .image = 1};

		assert_int_equal(
			bpf_map_update_elem(tracker.blocks.first_fd, &key, &block, BPF_NOEXIST), 0);
	}
	filter.cnt[0] = BLOCKS;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return tracker.blocks.first_fd < 0 ? 0 : close(tracker.blocks.first_fd);
}

static void need_table(void)
{
	if (tracker.blocks.first_fd >= 0)
		return;
	assert_int_equal(tracker.blocks.first_fd, -EPERM);
	print_message("skipped: no permission to create BPF maps\n");
	skip();
}

/* Reads the table. Sets *unread to the number of blocks that count as unread. */
static int read_table(uint64_t until_ns, uint64_t *unread)
{
	struct tracker_walk walk;
	struct snapshot snap;
	int err;

	visited = 0;
	tracker.walker.read_until_ns = until_ns;
	err = tracker_walk_begin(&tracker, 1, &walk, &snap);
	*unread = walk.unread;
	block_walk_end(&walk.blocks, -ECANCELED, &snap);
	return err;
}

static void whole_table(void **state)
{
	uint64_t unread;

	(void)state;
	need_table();
	assert_int_equal(read_table(0, &unread), 0);
	assert_int_equal(visited, BLOCKS);
	assert_int_equal(unread, 0);
	assert_int_equal(read_table(UINT64_MAX, &unread), 0);
	assert_int_equal(visited, BLOCKS);
	assert_int_equal(unread, 0);
}

/* A block that moves from the recent-block cache to the table meanwhile is read once. */
static void moved_block(void **state)
{
	uint64_t unread;

	(void)state;
	need_table();
	bucket.words[0] = 16;
	bucket.blocks[0].image = 1;
	assert_int_equal(read_table(0, &unread), 0);
	assert_int_equal(visited, BLOCKS);
	bucket.blocks[0].image = 2;
	assert_int_equal(read_table(0, &unread), 0);
	assert_int_equal(visited, BLOCKS + 1);
	bucket = (struct memleak_recent){0};
}

/* A block that is still being written to the ring of moved blocks counts as unread. */
static void unwritten_block(void **state)
{
	uint64_t unread;

	(void)state;
	need_table();
	tracker.reading = &reading;
	unwritten = 1;
	assert_int_equal(read_table(0, &unread), 0);
	assert_int_equal(visited, BLOCKS);
	assert_int_equal(unread, 1);
	tracker.reading = NULL;
}

/* Only a proof needs blocks that are allocated during the walk, which begins at 1 ns. */
static void late_blocks(void **state)
{
	uint64_t unread;

	(void)state;
	need_table();
	tracker.reading = &reading;
	assert_int_equal(read_table(0, &unread), 0);
	assert_int_equal(reading.until_ns, 1);
	tracker.picture_number = 1;
	assert_int_equal(read_table(0, &unread), 0);
	assert_int_equal(reading.until_ns, UINT64_MAX);
	tracker.picture_number = 0;
	tracker.reading = NULL;
}

static void past_deadline(void **state)
{
	uint64_t unread;

	(void)state;
	need_table();
	assert_int_equal(read_table(1, &unread), 0);
	assert_int_equal(visited + unread, BLOCKS);
	assert_int_not_equal(unread, 0);
}

/* A termination signal cancels a report, but not the last one. */
static void asked_to_end(void **state)
{
	uint64_t unread;

	(void)state;
	need_table();
	assert_int_equal(signals_hold_all(), 0);
	raise(SIGTERM);
	assert_int_equal(read_table(0, &unread), -EINTR);
	assert_int_equal(visited, 0);
	assert_int_equal(read_table(UINT64_MAX, &unread), 0);
	assert_int_equal(visited, BLOCKS);
	signals_renew_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whole_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(moved_block, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unwritten_block, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late_blocks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(past_deadline, set_up, tear_down),
		cmocka_unit_test_setup_teardown(asked_to_end, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
