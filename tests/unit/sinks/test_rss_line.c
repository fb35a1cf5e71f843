// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the line about resident memory (its parts and their changes) and the sentence after it. */
#include "sinks/rss_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define MIB (1ULL << 20)

static void expect(const struct rss *rss, const struct rss *first, const char *wanted)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	rss_write_line(out, rss, first);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void kept_by_many_arenas(void **state)
{
	const struct rss rss = {.parts = {[RSS_LIVE] = 100 * MIB,
					  [RSS_PINNED] = 800 * MIB,
					  [RSS_TRIMMABLE] = 90 * MIB,
					  [RSS_TOP] = MIB,
					  [RSS_FILES] = 9 * MIB,
					  [RSS_SHARED] = 20 * MIB},
				.arenas = 150};

	(void)state;
	expect(&rss, NULL,
	       "RSS 1020 MiB = 100 MiB live in glibc's heap + 891 MiB kept by glibc (800 MiB "
	       "pinned below live blocks, 90.0 MiB that malloc_trim would return; 150 arenas) + "
	       "20.0 MiB shared + 9.0 MiB other\n"
	       "glibc keeps 891 MiB that the program has freed, which is not a leak; "
	       "MALLOC_ARENA_MAX=2 or "
	       "another "
	       "allocator, such as jemalloc, keeps less\n");
}

static void kept_at_the_end(void **state)
{
	struct rss rss = {
		.parts = {[RSS_LIVE] = MIB, [RSS_TOP] = 9 * MIB}, .main_top = 9 * MIB, .arenas = 1};

	(void)state;
	expect(&rss, NULL,
	       "RSS 10.0 MiB = 1.0 MiB live in glibc's heap + 9.0 MiB kept by glibc (9.0 MiB at "
	       "the ends of heaps; 1 arena)\n"
	       "glibc keeps 9.0 MiB that the program has freed, which is not a leak; "
	       "malloc_trim(0) returns "
	       "most "
	       "of it\n");
	rss.arenas = 2;
	rss.main_top = 5 * MIB;
	expect(&rss, NULL,
	       "RSS 10.0 MiB = 1.0 MiB live in glibc's heap + 9.0 MiB kept by glibc (9.0 MiB at "
	       "the ends of heaps; 2 arenas)\n"
	       "glibc keeps 9.0 MiB that the program has freed, which is not a leak; "
	       "malloc_trim(0) returns most of it\n");
	rss.arenas = 150;
	rss.main_top = 4 * MIB;
	expect(&rss, NULL,
	       "RSS 10.0 MiB = 1.0 MiB live in glibc's heap + 9.0 MiB kept by glibc (9.0 MiB at "
	       "the ends of heaps; 150 arenas)\n"
	       "glibc keeps 9.0 MiB that the program has freed, which is not a leak; "
	       "MALLOC_ARENA_MAX=2 or another allocator, such as jemalloc, keeps less\n");
	rss.parts[RSS_TRIMMABLE] = 10 * MIB;
	expect(&rss, NULL,
	       "RSS 20.0 MiB = 1.0 MiB live in glibc's heap + 19.0 MiB kept by glibc (10.0 MiB "
	       "that malloc_trim would return, 9.0 MiB at the ends of heaps; 150 arenas)\n"
	       "glibc keeps 19.0 MiB that the program has freed, which is not a leak; "
	       "malloc_trim(0) returns most of it, and with MALLOC_ARENA_MAX=2 glibc keeps less\n");
}

/* Pools of Python: their free memory is a term, and is not a leak if it is most of the memory. */
static void kept_by_python(void **state)
{
	struct rss rss = {.parts = {[RSS_LIVE] = 40 * MIB,
				    [RSS_TOP] = 10 * MIB,
				    [RSS_PYTHON] = 300 * MIB,
				    [RSS_MAPPED] = 50 * MIB},
			  .arenas = 1};

	(void)state;
	expect(&rss, NULL,
	       "RSS 400 MiB = 40.0 MiB live in glibc's heap + 10.0 MiB kept by glibc (10.0 MiB at "
	       "the ends of heaps; 1 arena) + 300 MiB kept by python + 50.0 MiB other anonymous "
	       "memory\n"
	       "python keeps 300 MiB that the program has freed, which is not a leak; python "
	       "returns an arena of 1 MiB when all objects in it are freed\n");
	rss.parts[RSS_TOP] = rss.main_top = 310 * MIB;
	expect(&rss, NULL,
	       "RSS 700 MiB = 40.0 MiB live in glibc's heap + 310 MiB kept by glibc (310 MiB at "
	       "the "
	       "ends of heaps; 1 arena) + 300 MiB kept by python + 50.0 MiB other anonymous "
	       "memory\n"
	       "glibc keeps 310 MiB and python keeps 300 MiB that the program has freed, which is "
	       "not a leak; malloc_trim(0) returns most of it\n");
	rss.parts[RSS_TOP] = rss.main_top = 10 * MIB;
	rss.parts[RSS_MAPPED] = 280 * MIB;
	expect(&rss, NULL,
	       "RSS 630 MiB = 40.0 MiB live in glibc's heap + 10.0 MiB kept by glibc (10.0 MiB at "
	       "the ends of heaps; 1 arena) + 300 MiB kept by python + 280 MiB other anonymous "
	       "memory\n");
}

/* Swapped-out memory is named beside the sum if it is at least a hundredth of RSS. */
static void swapped(void **state)
{
	struct rss rss = {.parts = {[RSS_LIVE] = 300 * MIB}, .arenas = 1, .swapped = 4 * MIB};

	(void)state;
	expect(&rss, NULL,
	       "RSS 300 MiB = 300 MiB live in glibc's heap; besides, 4.0 MiB is swapped out\n");
	rss.swapped = 2 * MIB;
	expect(&rss, NULL, "RSS 300 MiB = 300 MiB live in glibc's heap\n");
}

static void grown(void **state)
{
	const struct rss first = {
		.parts = {[RSS_LIVE] = 10 * MIB, [RSS_PINNED] = 2 * MIB, [RSS_MAPPED] = 5 * MIB}};
	const struct rss rss = {
		.parts = {[RSS_LIVE] = 30 * MIB, [RSS_PINNED] = MIB, [RSS_MAPPED] = 5 * MIB},
		.arenas = 1};

	(void)state;
	expect(&rss, &first,
	       "RSS 36.0 MiB = 30.0 MiB live in glibc's heap + 1.0 MiB kept by glibc (1.0 MiB "
	       "pinned below live blocks; 1 arena) + 5.0 MiB other anonymous memory; since the "
	       "start +19.0 MiB: live +20.0 MiB, kept by glibc -1.0 MiB\n");
	expect(&rss, &rss,
	       "RSS 36.0 MiB = 30.0 MiB live in glibc's heap + 1.0 MiB kept by glibc (1.0 MiB "
	       "pinned below live blocks; 1 arena) + 5.0 MiB other anonymous memory\n");
}

/*
 * The part that has grown most is named first. If RSS has not grown, the changes are still listed.
 */
static void grown_otherwise(void **state)
{
	const struct rss first = {.parts = {[RSS_LIVE] = 10 * MIB}, .arenas = 1};
	const struct rss mapped = {.parts = {[RSS_LIVE] = 20 * MIB, [RSS_MAPPED] = 20 * MIB},
				   .arenas = 1};
	const struct rss smaller = {.parts = {[RSS_LIVE] = 5 * MIB}, .arenas = 1};

	(void)state;
	expect(&mapped, &first,
	       "RSS 40.0 MiB = 20.0 MiB live in glibc's heap + 20.0 MiB other anonymous memory; "
	       "since the start +30.0 MiB: other anonymous memory +20.0 MiB, live +10.0 MiB\n");
	expect(&smaller, &first,
	       "RSS 5.0 MiB = 5.0 MiB live in glibc's heap; since the start -5.0 MiB: live -5.0 "
	       "MiB\n");
}

/* The largest growth comes first; parts that have shrunk come last. */
static void order_of_changes(void **state)
{
	const struct rss first = {.parts = {[RSS_LIVE] = 10 * MIB,
					    [RSS_PINNED] = 3 * MIB,
					    [RSS_TOP] = MIB,
					    [RSS_MAPPED] = 5 * MIB,
					    [RSS_STACKS] = 4 * MIB,
					    [RSS_FILES] = 9 * MIB}};
	const struct rss rss = {.parts = {[RSS_LIVE] = 12 * MIB,
					  [RSS_PINNED] = 4 * MIB,
					  [RSS_TOP] = 4 * MIB,
					  [RSS_MAPPED] = 25 * MIB,
					  [RSS_STACKS] = 3 * MIB,
					  [RSS_FILES] = 2 * MIB}};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	rss_write_change(out, &first, &rss);
	fclose(out);
	assert_string_equal(text, "+18.0 MiB: other anonymous memory +20.0 MiB, kept by glibc +4.0 "
				  "MiB, live +2.0 MiB, files -7.0 MiB, stacks -1.0 MiB");
	free(text);
}

/* If an arena was not read, no change of glibc's memory is known. */
static void changes_unread(void **state)
{
	const struct rss first = {.parts = {[RSS_LIVE] = 50 * MIB, [RSS_FILES] = 9 * MIB}};
	const struct rss rss = {.parts = {[RSS_UNREAD] = 90 * MIB, [RSS_FILES] = 11 * MIB},
				.skipped_arenas = 1};

	(void)state;
	expect(&rss, &first,
	       "RSS 101 MiB = 11.0 MiB files + 90.0 MiB not read; since the start +42.0 MiB: files "
	       "+2.0 MiB\n"
	       "1 of glibc's arenas cannot be parsed: its memory is not read\n");
	expect(&first, &rss,
	       "RSS 59.0 MiB = 50.0 MiB live in glibc's heap + 9.0 MiB files; since the start "
	       "-42.0 MiB: files -2.0 MiB\n");
}

static void not_understood(void **state)
{
	struct rss skipped = {.parts = {[RSS_LIVE] = MIB, [RSS_UNREAD] = 9 * MIB},
			      .arenas = 1,
			      .skipped_arenas = 2};
	const struct rss other = {.parts = {[RSS_MAPPED] = 9 * MIB}};

	(void)state;
	expect(&skipped, NULL,
	       "RSS 10.0 MiB = 1.0 MiB live in glibc's heap + 9.0 MiB not read\n"
	       "2 of glibc's arenas cannot be parsed: their memory is not read\n");
	skipped.skipped_arenas = 1;
	expect(&skipped, NULL,
	       "RSS 10.0 MiB = 1.0 MiB live in glibc's heap + 9.0 MiB not read\n"
	       "1 of glibc's arenas cannot be parsed: its memory is not read\n");
	expect(&other, NULL,
	       "RSS 9.0 MiB = 9.0 MiB other anonymous memory\n"
	       "no glibc heap found: memory kept by other allocators is not known\n");
	expect(&other, &other, "RSS 9.0 MiB = 9.0 MiB other anonymous memory\n");
}

static void other_allocator(void **state)
{
	struct rss rss = {.parts = {[RSS_MAPPED] = 9 * MIB},
			  .allocator = ALLOCATOR_JEMALLOC,
			  .has_blocks = true,
			  .outside = 2 * MIB};
	const struct rss untraced = {.parts = {[RSS_MAPPED] = 9 * MIB},
				     .allocator = ALLOCATOR_JEMALLOC};

	(void)state;
	expect(&untraced, NULL,
	       "RSS 9.0 MiB = 9.0 MiB other anonymous memory\n"
	       "memory kept by jemalloc is not known: only a trace of every block shows it\n");
	expect(&rss, &rss,
	       "RSS 9.0 MiB = 9.0 MiB other anonymous memory\n"
	       "jemalloc keeps at most 7.0 MiB: other anonymous memory that is not in traced "
	       "blocks, but may be in older ones\n");
	/* Traced arenas of Python are in both terms, so their free memory is no other allocator's.
	 */
	rss.parts[RSS_PYTHON] = MIB;
	assert_int_equal(rss_others_keep(&rss), 8 * MIB);
	rss.outside = MIB / 2;
	assert_int_equal(rss_others_keep(&rss), 9 * MIB);
	rss.parts[RSS_PYTHON] = 0;
	rss.outside = 2 * MIB;
	rss.allocator = ALLOCATOR_NONE;
	expect(&rss, &rss,
	       "RSS 9.0 MiB = 9.0 MiB other anonymous memory\n"
	       "other allocators keep at most 7.0 MiB: other anonymous memory that is not in "
	       "traced blocks, but may be in older ones\n");
}

static void older_blocks(void **state)
{
	struct rss first = {.parts = {[RSS_LIVE] = 30 * MIB}, .arenas = 1, .has_blocks = true}, rss;

	(void)state;
	first.older[heap_class_of(4000)] = (struct reach_sum){20 * MIB, 5000};
	first.older[heap_class_of(64)] = (struct reach_sum){MIB, 16384};
	rss = first;
	rss.older[heap_class_of(64)] = (struct reach_sum){MIB / 2, 8192};
	expect(&rss, &first,
	       "RSS 30.0 MiB = 30.0 MiB live in glibc's heap\n"
	       "20.5 MiB in 13192 blocks are older than this trace, -512 KiB since the start; by "
	       "size: 20.0 MiB up to 4.0 KiB each, 512 KiB up to 64 bytes each\n");
	rss.torn_arenas = 1;
	first.older[heap_class_of(64)].bytes = 0;
	first.older[heap_class_of(4000)].bytes = MIB;
	expect(&rss, &first,
	       "RSS 30.0 MiB = about 30.0 MiB live in glibc's heap\n"
	       "at most 20.5 MiB in 13192 blocks are older than this trace; by size: 20.0 MiB up "
	       "to 4.0 KiB each, 512 KiB up to 64 bytes each\n");
	/*
	 * Blocks from before tracing are not mentioned if they are less than a tenth of resident
	 * memory.
	 */
	rss.older[heap_class_of(4000)] = (struct reach_sum){2 * MIB, 500};
	expect(&rss, NULL, "RSS 30.0 MiB = about 30.0 MiB live in glibc's heap\n");
}

/* Huge pages are mentioned if they are more than a tenth of RSS. */
static void huge_pages(void **state)
{
	struct rss rss = {.parts = {[RSS_LIVE] = 30 * MIB}, .arenas = 1, .huge = 4 * MIB};

	(void)state;
	expect(&rss, NULL,
	       "RSS 30.0 MiB = 30.0 MiB live in glibc's heap, of it 4.0 MiB in huge pages\n");
	rss.huge = 3 * MIB;
	expect(&rss, NULL, "RSS 30.0 MiB = 30.0 MiB live in glibc's heap\n");
}

static void expect_lines(const struct processes_rss *all, const char *wanted)
{
	const struct report report = {.processes_rss = *all};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	rss_write_lines(&(struct text_part){.out = out, .report = &report});
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

/*
 * Few processes have a line each. More have one line with their sum. If there are too many, the
 * line is only a hint.
 */
static void several_processes(void **state)
{
	static const struct process process = {.pid = 7, .comm = "server"},
				    other = {.pid = 8, .comm = "worker"},
				    hostile = {.pid = 9, .comm = "\x1b[31m"};
	const struct rss small = {.parts = {[RSS_LIVE] = 10 * MIB}, .arenas = 1},
			 large = {.parts = {[RSS_LIVE] = 30 * MIB}, .arenas = 2};
	struct processes_rss all = {.living = 2,
				    .items = {{&process, &large, &small}, {&other, &small, NULL}},
				    .cnt = 2};

	(void)state;
	expect_lines(&all, "server (7): RSS 30.0 MiB = 30.0 MiB live in glibc's heap; since the "
			   "start +20.0 MiB: live +20.0 MiB\n"
			   "worker (8): RSS 10.0 MiB = 10.0 MiB live in glibc's heap\n");
	all.items[0].process = &hostile;
	all.cnt = 1;
	expect_lines(&all, "\\x1b[31m (9): RSS 30.0 MiB = 30.0 MiB live in glibc's heap; since the "
			   "start +20.0 MiB: live +20.0 MiB\n");
	all.items[2] = all.items[3] = (struct process_rss){&other, &small, &small};
	all.living = all.cnt = 4;
	expect_lines(&all, "4 processes (the largest: \\x1b[31m (9), 30.0 MiB): RSS 60.0 MiB = "
			   "60.0 MiB live in glibc's heap; since the start +20.0 MiB: live +20.0 "
			   "MiB\n");
	all.living = 5;
	all.items[0].process = &process;
	all.items[0].first = all.items[2].first = all.items[3].first = NULL;
	expect_lines(&all, "4 of 5 processes (the largest: server (7), 30.0 MiB): RSS 60.0 MiB = "
			   "60.0 MiB live in glibc's heap\n");
	all = (struct processes_rss){.living = 9};
	expect_lines(&all, "RSS is not broken down for 9 processes: for one process, use "
			   "memleak --rss -p PID\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_by_many_arenas),
		cmocka_unit_test(kept_at_the_end),
		cmocka_unit_test(kept_by_python),
		cmocka_unit_test(swapped),
		cmocka_unit_test(grown),
		cmocka_unit_test(grown_otherwise),
		cmocka_unit_test(order_of_changes),
		cmocka_unit_test(changes_unread),
		cmocka_unit_test(not_understood),
		cmocka_unit_test(older_blocks),
		cmocka_unit_test(other_allocator),
		cmocka_unit_test(huge_pages),
		cmocka_unit_test(several_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
