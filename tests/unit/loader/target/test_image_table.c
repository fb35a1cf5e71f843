// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the history of the programs that processes run (images), from hand-made records: order,
 * overlaps, limits and losses.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loader/target/image_maps.h"
#include "loader/target/image_table.h"
#include "tests/unit/lib/random.h"

#define PAGE 0x1000ULL
#define ROOM ((size_t)64 << 20)

static struct image_table table;
static uint64_t now_ns;

static int make_table(void **state)
{
	image_table_init(&table, ROOM);
	now_ns = 0;
	return 0;
}

static int free_table(void **state)
{
	image_table_deinit(&table);
	return table.bytes != 0 || table.ended_cnt != 0;
}

static void apply(struct map_record record)
{
	record.time_ns = ++now_ns;
	image_table_apply(&table, &record, (int64_t)now_ns);
}

static void exec_program(pid_t pid)
{
	struct map_record record = {.kind = MAP_RECORD_EXEC, .pid = pid, .tid = pid};

	snprintf(record.comm, sizeof(record.comm), "p%d", pid);
	apply(record);
}

static void map_pages(pid_t pid, uint64_t first, uint64_t cnt, uint64_t inode, const char *path)
{
	apply((struct map_record){
		.kind = MAP_RECORD_MAPPING,
		.pid = pid,
		.tid = pid,
		.mapping = {.start = first * PAGE,
			    .end = (first + cnt) * PAGE,
			    .offset = inode ? first * PAGE : 0,
			    .file.ino = inode,
			    .executable = true},
		.path = path,
		.path_len = strlen(path),
	});
}

static void fork_process(pid_t parent, pid_t pid)
{
	apply((struct map_record){
		.kind = MAP_RECORD_FORK, .pid = pid, .tid = pid, .parent = parent});
}

static void fork_thread(pid_t pid, pid_t tid)
{
	apply((struct map_record){.kind = MAP_RECORD_FORK, .pid = pid, .tid = tid, .parent = pid});
}

static void exit_thread(pid_t pid, pid_t tid)
{
	apply((struct map_record){.kind = MAP_RECORD_EXIT, .pid = pid, .tid = tid});
}

/* Returns the mappings of a process as text, in pages, such as "1-3:/a 3-4:", or "unknown". */
static const char *maps_at(pid_t pid, uint64_t at_ns)
{
	static char text[1 << 20];
	const struct image *image = image_table_find(&table, pid, at_ns);
	struct proc_maps maps;
	size_t len = 0;

	if (!image || image_maps(image, &maps))
		return "unknown";
	text[0] = '\0';
	for_each_mapping (mapping, &maps) {
		assert_int_equal(mapping->offset, mapping->file.ino ? mapping->start : 0);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d-%d:%s",
					len ? " " : "", (int)(mapping->start / PAGE),
					(int)(mapping->end / PAGE), mapping->path);
	}
	proc_maps_deinit(&maps);
	return text;
}

static const char *maps_of(pid_t pid)
{
	return maps_at(pid, IMAGE_NEWEST);
}

static bool has_ended(pid_t pid)
{
	return image_table_find(&table, pid, IMAGE_NEWEST) &&
	       !image_table_find(&table, pid, IMAGE_NEWEST - 1);
}

static void exec_begins_anew(void **state)
{
	map_pages(7, 1, 1, 1, "/before");
	assert_string_equal(maps_of(7), "unknown");
	exec_program(7);
	assert_string_equal(maps_of(7), "");
	map_pages(7, 5, 2, 1, "/a");
	map_pages(7, 1, 1, 2, "/b");
	map_pages(7, 9, 1, 0, "");
	assert_string_equal(maps_of(7), "1-2:/b 5-7:/a 9-10:");
	exec_program(7);
	map_pages(7, 3, 1, 3, "/c");
	assert_string_equal(maps_of(7), "3-4:/c");
	assert_string_equal(maps_at(7, 4), "1-2:/b 5-7:/a 9-10:");
	assert_string_equal(image_comm(image_table_find(&table, 7, 4)), "p7");
}

static void later_ones_replace(void **state)
{
	exec_program(7);
	map_pages(7, 10, 10, 1, "/a");
	map_pages(7, 12, 2, 0, "");
	assert_string_equal(maps_of(7), "10-12:/a 12-14: 14-20:/a");
	map_pages(7, 11, 2, 2, "/b");
	assert_string_equal(maps_of(7), "10-11:/a 11-13:/b 13-14: 14-20:/a");
	map_pages(7, 18, 4, 3, "/c");
	assert_string_equal(maps_of(7), "10-11:/a 11-13:/b 13-14: 14-18:/a 18-22:/c");
	map_pages(7, 10, 9, 4, "/d");
	assert_string_equal(maps_of(7), "10-19:/d 19-22:/c");
	map_pages(7, 10, 9, 5, "/e");
	assert_string_equal(maps_of(7), "10-19:/e 19-22:/c");
	map_pages(7, 0, 100, 6, "/f");
	assert_string_equal(maps_of(7), "0-100:/f");
}

/* Compares the table with a model that has one entry for each page. */
static void random_mappings(void **state)
{
	enum { PAGES = 64 };
	uint64_t seed = 1;

	for (int round = 0; round < 200; round++) {
		uint64_t inodes[PAGES] = {0};
		struct proc_maps maps;

		exec_program(7);
		for (uint64_t inode = 1; inode < 40; inode++) {
			uint64_t first = random_next(&seed) % PAGES;
			uint64_t cnt = 1 + random_next(&seed) % (PAGES - first);

			cnt = cnt > 8 && inode % 4 ? cnt % 8 + 1 : cnt;
			map_pages(7, first, cnt, inode, "/x");
			for (uint64_t i = first; i < first + cnt; i++)
				inodes[i] = inode;
		}
		assert_int_equal(image_maps(image_table_find(&table, 7, IMAGE_NEWEST), &maps), 0);
		for (uint64_t i = 0; i < PAGES; i++) {
			const struct mapping *mapping = proc_maps_find(&maps, i * PAGE);

			assert_true(inodes[i] ? mapping && mapping->file.ino == inodes[i] &&
							mapping->offset == mapping->start
					      : !mapping);
		}
		proc_maps_deinit(&maps);
	}
}

static void forks_share_until_one_maps(void **state)
{
	exec_program(7);
	map_pages(7, 1, 1, 1, "/a");
	fork_process(7, 8);
	fork_process(8, 9);
	map_pages(8, 2, 1, 2, "/b");
	map_pages(7, 3, 1, 3, "/c");
	fork_process(8, 10);
	assert_string_equal(maps_of(7), "1-2:/a 3-4:/c");
	assert_string_equal(maps_of(8), "1-2:/a 2-3:/b");
	assert_string_equal(maps_of(9), "1-2:/a");
	assert_string_equal(maps_of(10), "1-2:/a 2-3:/b");
	assert_string_equal(image_comm(image_table_find(&table, 10, IMAGE_NEWEST)), "p7");
	/* A thread shares its process's mappings, but has its own name. */
	fork_thread(7, 70);
	apply((struct map_record){.kind = MAP_RECORD_NAME, .pid = 7, .tid = 70, .comm = "thread"});
	apply((struct map_record){.kind = MAP_RECORD_NAME, .pid = 8, .tid = 8, .comm = "named"});
	assert_string_equal(image_comm(image_table_find(&table, 7, IMAGE_NEWEST)), "p7");
	assert_string_equal(image_comm(image_table_find(&table, 8, IMAGE_NEWEST)), "named");
}

static void parents_that_are_not_known(void **state)
{
	fork_process(7, 8);
	map_pages(8, 1, 1, 1, "/a");
	assert_string_equal(maps_of(8), "unknown");
	/* A pid is reused: queries for a time before the reuse still find the earlier process. */
	exec_program(9);
	map_pages(9, 1, 1, 1, "/a");
	exit_thread(9, 9);
	fork_process(7, 9);
	assert_string_equal(maps_of(9), "unknown");
	assert_string_equal(maps_at(9, 4), "1-2:/a");
	exec_program(9);
	map_pages(9, 2, 1, 1, "/b");
	assert_string_equal(maps_of(9), "2-3:/b");
	/* Pids of processes outside our pid namespace: 0 and -1. */
	exec_program(0);
	exec_program(-1);
	assert_string_equal(maps_of(0), "unknown");
	assert_string_equal(maps_of(-1), "unknown");
}

static void the_last_thread_ends_it(void **state)
{
	uint64_t lived_ns;

	exec_program(7);
	map_pages(7, 1, 1, 1, "/a");
	fork_thread(7, 70);
	exit_thread(7, 7);
	assert_false(has_ended(7));
	lived_ns = now_ns;
	exit_thread(7, 70);
	assert_true(has_ended(7));
	assert_string_equal(maps_of(7), "1-2:/a");
	assert_string_equal(maps_at(7, lived_ns), "1-2:/a");
	assert_string_equal(maps_at(7, now_ns + 1), "unknown");
	/* An exec ends all other threads. */
	exec_program(8);
	fork_thread(8, 80);
	fork_thread(8, 81);
	exit_thread(8, 8);
	exit_thread(8, 81);
	exec_program(8);
	assert_false(has_ended(8));
	exit_thread(8, 8);
	assert_true(has_ended(8));
	image_table_forget(&table, 8);
	image_table_forget(&table, 7);
	assert_string_equal(maps_of(7), "unknown");
	assert_int_equal(table.ended_cnt, 0);
}

static void one_that_lives_is_not_forgotten(void **state)
{
	exec_program(7);
	map_pages(7, 1, 1, 1, "/a");
	exec_program(7);
	map_pages(7, 2, 1, 1, "/b");
	image_table_forget(&table, 7);
	assert_string_equal(maps_of(7), "2-3:/b");
	assert_string_equal(maps_at(7, 2), "unknown");
}

static void late_ones_are_of_before(void **state)
{
	struct map_record late = {.kind = MAP_RECORD_FORK, .pid = 7, .tid = 7, .parent = 6};

	exec_program(6);
	map_pages(6, 1, 1, 1, "/parent");
	late.time_ns = now_ns;
	exec_program(7);
	map_pages(7, 2, 1, 1, "/own");
	image_table_apply(&table, &late, 0);
	assert_string_equal(maps_of(7), "2-3:/own");
}

static void oldest_that_ended_go(void **state)
{
	for (pid_t pid = 1; pid <= IMAGES_ENDED_MAX + 10; pid++) {
		exec_program(pid);
		map_pages(pid, 1, 1, 1, "/a");
		exit_thread(pid, pid);
	}
	assert_int_equal(table.ended_cnt, IMAGES_ENDED_MAX);
	assert_string_equal(maps_of(10), "unknown");
	assert_string_equal(maps_of(11), "1-2:/a");
}

static void lists_are_bounded(void **state)
{
	enum { FILES = 3 };
	struct proc_maps maps;

	exec_program(7);
	for (uint64_t i = 0; i < FILES; i++)
		map_pages(7, i * 2, 1, i + 1, "/file");
	for (uint64_t i = 0; i < IMAGE_MAPS_MAX + 100; i++)
		map_pages(7, 100 + i * 2, 1, 0, "");
	assert_int_equal(image_maps(image_table_find(&table, 7, IMAGE_NEWEST), &maps), 0);
	assert_int_equal(maps.cnt, IMAGE_MAPS_MAX);
	for (uint64_t i = 0; i < FILES; i++)
		assert_int_equal(maps.mappings[i].file.ino, i + 1);
	assert_int_equal(maps.mappings[FILES].start, (100 + (100 + FILES) * 2) * PAGE);
	proc_maps_deinit(&maps);
	/*
	 * The list is now full of mappings of files: another mapping is dropped.
	 */
	for (uint64_t i = 0; i < IMAGE_MAPS_MAX - FILES; i++)
		map_pages(7, 100000 + i * 2, 1, 9, "/file");
	map_pages(7, 10, 1, 9, "/one more");
	assert_null(strstr(maps_of(7), "/one more"));
}

static void memory_is_bounded(void **state)
{
	char path[4096];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	table.bytes_max = (size_t)1 << 20;
	for (pid_t pid = 1; pid <= 100; pid++) {
		exec_program(pid);
		for (uint64_t i = 0; i < 100; i++)
			map_pages(pid, i, 1, 1, path);
		assert_true(table.bytes <= table.bytes_max);
		if (pid > 1)
			exit_thread(pid, pid);
	}
	assert_string_not_equal(maps_of(1), "unknown");
	assert_string_not_equal(maps_of(100), "unknown");
	assert_string_equal(maps_of(2), "unknown");
	/* If a process's mappings need more memory than bytes_max, all of them become unknown. */
	for (uint64_t i = 0; i < 400; i++)
		map_pages(1, 1000 + i, 1, 1, path);
	assert_true(table.bytes <= table.bytes_max);
	assert_string_equal(maps_of(1), "unknown");
}

static void after_a_loss_nothing_is_known(void **state)
{
	uint64_t since_ns;

	exec_program(5);
	map_pages(5, 1, 1, 1, "/ended before");
	exit_thread(5, 5);
	exec_program(6);
	map_pages(6, 1, 1, 1, "/ended since");
	exec_program(7);
	map_pages(7, 1, 1, 1, "/lives");
	fork_process(7, 8);
	since_ns = ++now_ns;
	exit_thread(6, 6);
	image_table_lose(&table, since_ns);
	assert_string_equal(maps_of(5), "1-2:/ended before");
	for (pid_t pid = 6; pid <= 8; pid++)
		assert_string_equal(maps_of(pid), "unknown");
	fork_process(7, 9);
	map_pages(9, 1, 1, 1, "/a");
	assert_string_equal(maps_of(9), "unknown");
	/*
	 * If the number of threads is unknown, the exit of the main thread counts as the end of the
	 * process.
	 */
	fork_thread(8, 80);
	exit_thread(8, 8);
	assert_true(has_ended(8));
	exec_program(7);
	map_pages(7, 2, 1, 1, "/again");
	assert_string_equal(maps_of(7), "2-3:/again");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_table, free_table)
	const struct CMUnitTest tests[] = {
		TEST(exec_begins_anew),
		TEST(later_ones_replace),
		TEST(random_mappings),
		TEST(forks_share_until_one_maps),
		TEST(parents_that_are_not_known),
		TEST(the_last_thread_ends_it),
		TEST(one_that_lives_is_not_forgotten),
		TEST(late_ones_are_of_before),
		TEST(oldest_that_ended_go),
		TEST(lists_are_bounded),
		TEST(memory_is_bounded),
		TEST(after_a_loss_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
