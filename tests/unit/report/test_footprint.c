// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests growth of a process's memory that traced blocks do not explain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/footprint.h"

#define REPORTS 14
#define MIB (1ULL << 20)
#define MAPPINGS 20000

/*
 * Describes how a process grows: each second, the parts of its memory grow by `each`, and its
 * traced blocks by traced_each. Times are in seconds since tracing began. Growth begins at `from`
 * and ends at `until`; if `until` is 0, it does not end.
 */
struct story {
	struct footprint each;
	uint64_t traced_each;
	uint64_t traced_cnt_each; /* growth per second of the number of traced blocks */
	uint64_t kept_each;       /* growth per second of free memory that glibc can return */
	uint64_t pinned_each;     /* growth per second of free memory that is pinned */
	uint32_t rss_image; /* process image of the known resident memory; 0: the process's own */
	enum block_kind kind;
	uint64_t from, until;
	uint64_t period;  /* seconds after which growth starts again from 0; 0: never */
	uint64_t appears; /* second in which memleak finds the process */
	uint64_t dips;    /* in this second, memory is as large as two seconds before */
	uint64_t seconds; /* duration of tracing; 0: REPORTS seconds */
	uint64_t jumps;   /* bit mask of the seconds in which memory grows, if not 0 */
	uint64_t copies;  /* bit mask of the seconds in which the largest block that is too young is
			     a copy of a traced block */
	bool alternates;  /* true if every other report leaves out the traced blocks as too young */
	struct run_facts run;
};

/* Returns the number of seconds, up to `second`, in which memory has grown. */
static uint64_t seconds_of_growth(const struct story *story, uint64_t second)
{
	if (story->jumps)
		return (uint64_t)__builtin_popcountll(story->jumps & ((2ULL << second) - 1));
	if (story->until && second > story->until)
		second = story->until;
	if (second == story->dips)
		second -= 2;
	if (story->period)
		second %= story->period;
	return second > story->from ? second - story->from : 0;
}

/*
 * Takes a snapshot each second, and makes a report of every other snapshot. Returns the growth at
 * the last snapshot.
 */
static struct untraced_growths after(const struct story *story)
{
	struct process process = {.image = 7, .pid = 70};
	struct untraced_growths growths = {0};
	struct rss_pasts pasts = {.items = {{.cnt = 0}}};
	struct ranking *ranking;
	uint64_t grown_s;

	assert_int_equal(ranking__new(&ranking), 0);
	for (uint64_t second = 1; second <= (story->seconds ?: REPORTS); second++) {
		struct site site = {.kind = story->kind, .process = &process};
		struct process_tally tally = {.process = &process, .footprint.is_known = true};
		struct snapshot snap = {.run = story->run,
					.descriptors.are_traced = story->kind == KIND_DESCRIPTOR,
					.elapsed_ns = second * 1000000000,
					.sites = &site,
					.site_cnt = 1,
					.tallies = &tally,
					.tally_cnt = second >= story->appears};

		grown_s = seconds_of_growth(story, second);
		site.bytes = MIB + grown_s * story->traced_each;
		site.count = grown_s * story->traced_cnt_each;
		tally.footprint.virtual_max = story->each.virtual_max;
		for (size_t i = 0; i < FOOTPRINT_CNT; i++)
			tally.footprint.parts[i] = 10 * MIB + grown_s * story->each.parts[i];
		if (second < 64 && story->copies >> second & 1)
			site.bytes += tally.footprint.parts[FOOTPRINT_TOO_YOUNG];
		if (story->alternates && second % 4 < 2) {
			tally.footprint.parts[FOOTPRINT_TOO_YOUNG] += site.bytes;
			site.bytes = 0;
		}
		tally.rss.parts[RSS_TOP] = MIB + grown_s * story->kept_each;
		tally.rss.parts[RSS_PINNED] = grown_s * story->pinned_each;
		rss_pasts_add(&pasts, story->rss_image ?: 7, snap.elapsed_ns, &tally.rss);
		untraced_growths_deinit(&growths);
		assert_int_equal(
			untraced_growths_init(&snap, second % 2 == 0, &pasts, ranking, &growths),
			0);
	}
	ranking__free(ranking);
	return growths;
}

static void assert_grows(const struct story *story, enum footprint_part part, double per_s)
{
	struct untraced_growths growths = after(story);

	assert_int_equal(growths.cnt, 1);
	assert_int_equal(growths.items[0].part, part);
	assert_true(growths.items[0].per_s == per_s);
	assert_int_equal(growths.items[0].since_ns, (REPORTS - 1) * 1000000000ULL);
	untraced_growths_deinit(&growths);
}

static void assert_nothing(const struct story *story)
{
	struct untraced_growths growths = after(story);

	assert_int_equal(growths.cnt, 0);
	untraced_growths_deinit(&growths);
}

static void anonymous_memory(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_ANONYMOUS] = MIB, .traced_each = MIB / 4};

	assert_grows(&story, FOOTPRINT_ANONYMOUS, MIB);
	story.traced_each = MIB / 2 + MIB / 8;
	assert_nothing(&story);
	/*
	 * Free memory that the allocator keeps also explains growth, unless this memory is pinned
	 * or belongs to another process image.
	 */
	story.traced_each = MIB / 4;
	story.kept_each = MIB / 8;
	assert_grows(&story, FOOTPRINT_ANONYMOUS, MIB);
	story.kept_each = MIB / 4;
	assert_nothing(&story);
	story.rss_image = 8;
	assert_grows(&story, FOOTPRINT_ANONYMOUS, MIB);
	story.rss_image = 0;
	story.kept_each = 0;
	story.pinned_each = MIB / 2;
	assert_grows(&story, FOOTPRINT_ANONYMOUS, MIB);
	story.pinned_each = 0;
	story.traced_each = MIB;
	story.kind = KIND_RESERVE;
	assert_grows(&story, FOOTPRINT_ANONYMOUS, MIB);
	story.run.has_size_filters = true;
	assert_nothing(&story);
}

/* Growth that traced blocks explain prevents an all-clear even if no site is suspected. */
static void explained(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_ANONYMOUS] = MIB, .traced_each = MIB};
	struct untraced_growths growths = after(&story);

	assert_int_equal(growths.cnt, 0);
	assert_non_null(growths.explained.process);
	assert_true(growths.explained.per_s == MIB);
	untraced_growths_deinit(&growths);
	/*
	 * If traced blocks and glibc's free memory together explain the growth, it is returned as
	 * `explained`. If free memory alone does, it is not.
	 */
	story.traced_each = MIB / 4;
	story.kept_each = MIB / 4;
	growths = after(&story);
	assert_int_equal(growths.cnt, 0);
	assert_non_null(growths.explained.process);
	untraced_growths_deinit(&growths);
	story.traced_each = 0;
	story.kept_each = MIB;
	growths = after(&story);
	assert_int_equal(growths.cnt, 0);
	assert_null(growths.explained.process);
	untraced_growths_deinit(&growths);
	story.kept_each = 0;
	story.each.parts[FOOTPRINT_ANONYMOUS] = 0;
	growths = after(&story);
	assert_null(growths.explained.process);
	untraced_growths_deinit(&growths);
}

/* A block of 5 bytes takes 32 bytes of glibc's heap. */
static void small_blocks(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_ANONYMOUS] = MIB,
			      .traced_each = 5 * (MIB / 32),
			      .traced_cnt_each = MIB / 32};

	assert_nothing(&story);
	story.traced_cnt_each = MIB / 32 / 8;
	assert_grows(&story, FOOTPRINT_ANONYMOUS, MIB);
	story.traced_cnt_each = MIB / 32;
	story.kind = KIND_MMAP;
	assert_grows(&story, FOOTPRINT_ANONYMOUS, MIB);
}

/*
 * Growth of shared memory and files counts only if address space grows as well. Otherwise it may be
 * the first use of memory that was already mapped. Traced blocks do not explain such growth.
 */
static void shared_memory(void **state)
{
	static const enum footprint_part parts[] = {FOOTPRINT_SHARED, FOOTPRINT_FILES};

	for (size_t i = 0; i < 2; i++) {
		struct story story = {.traced_each = 4 * MIB};

		story.each.parts[parts[i]] = MIB;
		assert_nothing(&story);
		story.each.parts[FOOTPRINT_VIRTUAL] = MIB;
		assert_grows(&story, parts[i], MIB);
	}
}

static void huge_pages(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_HUGE] = 2 * MIB, .traced_each = 2 * MIB};

	assert_grows(&story, FOOTPRINT_HUGE, 2 * MIB);
	story.kind = KIND_MMAP;
	assert_nothing(&story);
}

static void pieces(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_DESCRIPTORS] = 3, .traced_each = 4 * MIB};

	assert_grows(&story, FOOTPRINT_DESCRIPTORS, 3);
	story.each.parts[FOOTPRINT_DESCRIPTORS] = 0;
	story.each.parts[FOOTPRINT_THREADS] = 1;
	assert_grows(&story, FOOTPRINT_THREADS, 1);
	story.each.parts[FOOTPRINT_THREADS] = 0;
	story.each.parts[FOOTPRINT_CHILDREN] = 1;
	assert_grows(&story, FOOTPRINT_CHILDREN, 1);
	story.each.parts[FOOTPRINT_CHILDREN] = 0;
	story.each.parts[FOOTPRINT_TIMERS] = 1;
	assert_grows(&story, FOOTPRINT_TIMERS, 1);
	story.each.parts[FOOTPRINT_TIMERS] = 0;
	story.each.parts[FOOTPRINT_QUEUES] = 1;
	assert_grows(&story, FOOTPRINT_QUEUES, 1);
}

/* With --fds, blocks are descriptors, and only descriptors are judged. */
static void traced_descriptors(void **state)
{
	struct story story = {
		.each.parts = {[FOOTPRINT_ANONYMOUS] = MIB, [FOOTPRINT_DESCRIPTORS] = 3},
		.traced_each = 3,
		.kind = KIND_DESCRIPTOR,
	};

	assert_nothing(&story);
	story.traced_each = 1;
	assert_grows(&story, FOOTPRINT_DESCRIPTORS, 3);
}

static void assert_pending(const struct story *story, bool is_pending)
{
	struct untraced_growths growths = after(story);

	assert_int_equal(growths.cnt, 0);
	assert_int_equal(growths.pending.process != NULL, is_pending);
	if (is_pending) {
		assert_int_equal(growths.pending.part, FOOTPRINT_ANONYMOUS);
		assert_true(growths.pending_bytes == 3 * MIB);
	}
	untraced_growths_deinit(&growths);
}

/*
 * Recent growth is pending, since it may go on. It is not pending if traced blocks or the
 * allocator's free memory explain it, if size filters are set, if it ended long ago, or if tracing
 * began with the process.
 */
static void pending(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_ANONYMOUS] = MIB,
			      .traced_each = MIB / 4,
			      .from = 6,
			      .until = 9};

	story.run.had_begun = true;
	assert_pending(&story, true);
	story.run = (struct run_facts){.had_begun = true, .has_size_filters = true};
	assert_pending(&story, false);
	story.run = (struct run_facts){0};
	assert_pending(&story, false);
	story.run.had_begun = true;
	story.traced_each = MIB / 2;
	assert_pending(&story, false);
	story.traced_each = 0;
	story.kept_each = MIB / 2;
	assert_pending(&story, false);
	story.kept_each = 0;
	story.from = 1;
	story.until = 4;
	assert_pending(&story, false);
}

/*
 * A rise is not pending if the memory was as large before, since it may rise and fall all the time.
 * A process that was found late has not risen.
 */
static void no_rise(void **state)
{
	struct story story = {
		.each.parts[FOOTPRINT_ANONYMOUS] = MIB, .run.had_begun = true, .period = 5};

	assert_pending(&story, false);
	story.period = 0;
	story.until = 1;
	story.appears = REPORTS;
	assert_pending(&story, false);
}

/*
 * A rise is not pending if it is small, was interrupted by a fall, or ended more than a minute ago.
 */
static void slight_rise(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_ANONYMOUS] = MIB * 3 / 4,
			      .run.had_begun = true,
			      .from = 6,
			      .until = 10};

	assert_pending(&story, true);
	story.dips = 9;
	assert_pending(&story, false);
	story.dips = 0;
	story.from = 10;
	story.until = 11;
	assert_pending(&story, false);
	story.each.parts[FOOTPRINT_ANONYMOUS] = 3 * MIB;
	story.from = 80;
	story.until = 81;
	story.seconds = 120;
	assert_pending(&story, true);
	story.seconds = 150;
	assert_pending(&story, false);
}

/*
 * A rise of mapped files is not pending. If shared and anonymous memory have risen, the rise of
 * shared memory is returned.
 */
static void parts_of_rises(void **state)
{
	struct story story = {.each.parts = {[FOOTPRINT_FILES] = MIB, [FOOTPRINT_VIRTUAL] = MIB},
			      .run.had_begun = true,
			      .from = 6,
			      .until = 9};
	struct untraced_growths growths;

	assert_pending(&story, false);
	story.each.parts[FOOTPRINT_ANONYMOUS] = 2 * MIB;
	story.each.parts[FOOTPRINT_UNMAPPED] = MIB;
	growths = after(&story);
	assert_int_equal(growths.pending.part, FOOTPRINT_UNMAPPED);
	untraced_growths_deinit(&growths);
}

/*
 * Growth of shared memory counts even if it is not mapped. If mapped shared memory grows as well,
 * only the growth of the mapped memory is reported.
 */
static void unmapped_memory(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_UNMAPPED] = MIB};

	assert_grows(&story, FOOTPRINT_UNMAPPED, MIB);
	story.each.parts[FOOTPRINT_SHARED] = MIB;
	story.each.parts[FOOTPRINT_VIRTUAL] = MIB;
	assert_grows(&story, FOOTPRINT_SHARED, MIB);
	story = (struct story){
		.each.parts = {[FOOTPRINT_UNMAPPED] = 2 * MIB, [FOOTPRINT_HUGE] = 2 * MIB},
		.traced_each = 2 * MIB,
		.kind = KIND_MMAP};
	assert_nothing(&story);
}

/* Growth of address space alone is not reported, nor growth by a few pages. */
static void trifles(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_VIRTUAL] = 64 * MIB};

	assert_nothing(&story);
	story.each.parts[FOOTPRINT_ANONYMOUS] = 4096;
	assert_nothing(&story);
}

/* The typical growth in a second is 0, so no growth is reported. */
static void jumps(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_ANONYMOUS] = 2 * MIB,
			      .jumps = 1 << 14 | 1 << 15 | 1 << 28 | 1 << 29 | 1 << 30,
			      .seconds = 30};

	(void)state;
	assert_nothing(&story);
}

/* There is no all-clear while a block grows that is too young for the report. */
static void too_young_block(void **state)
{
	struct story story = {
		.each.parts = {[FOOTPRINT_ANONYMOUS] = MIB, [FOOTPRINT_TOO_YOUNG] = MIB}};
	struct untraced_growths growths = after(&story);

	(void)state;
	assert_int_equal(growths.cnt, 0);
	assert_non_null(growths.too_young.process);
	assert_true(growths.too_young.per_s == MIB);
	assert_int_equal(growths.too_young.part, FOOTPRINT_TOO_YOUNG);
	assert_non_null(growths.explained.process);
	untraced_growths_deinit(&growths);
	/*
	 * There is no all-clear even if anonymous memory does not grow: the block may grow into
	 * free memory of the allocator.
	 */
	story.each.parts[FOOTPRINT_ANONYMOUS] = 0;
	growths = after(&story);
	assert_non_null(growths.too_young.process);
	assert_null(growths.explained.process);
	untraced_growths_deinit(&growths);
}

/*
 * Blocks of any age explain growth of anonymous memory. Blocks too young for the report count
 * twice, since an old block and its larger copy may both be resident.
 */
static void explained_at_any_age(void **state)
{
	struct story story = {
		.each.parts = {[FOOTPRINT_ANONYMOUS] = MIB, [FOOTPRINT_TOO_YOUNG] = MIB / 8},
		.traced_each = MIB / 4 + MIB / 16};
	struct untraced_growths growths;

	(void)state;
	assert_nothing(&story);
	story.traced_each = MIB / 4 - MIB / 16;
	assert_grows(&story, FOOTPRINT_ANONYMOUS, MIB);
	story.alternates = true;
	story.each.parts[FOOTPRINT_TOO_YOUNG] = 0;
	story.traced_each = MIB;
	growths = after(&story);
	assert_int_equal(growths.cnt, 0);
	assert_non_null(growths.explained.process);
	untraced_growths_deinit(&growths);
	story = (struct story){
		.each.parts = {[FOOTPRINT_ANONYMOUS] = 5 * MIB, [FOOTPRINT_TOO_YOUNG] = MIB}};
	growths = after(&story);
	assert_int_equal(growths.cnt, 1);
	assert_true(growths.items[0].traced_per_s == MIB);
	untraced_growths_deinit(&growths);
	/* In some reports, an old block and its copy both count. */
	story = (struct story){
		.each.parts = {[FOOTPRINT_ANONYMOUS] = 2 * MIB, [FOOTPRINT_TOO_YOUNG] = MIB},
		.copies = 3 << 10};
	assert_nothing(&story);
}

static void assert_none_too_young(const struct story *story)
{
	struct untraced_growths growths = after(story);

	assert_null(growths.too_young.process);
	untraced_growths_deinit(&growths);
}

static void too_young_without_growth(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_TOO_YOUNG] = MIB / REPORTS / 2};

	(void)state;
	assert_none_too_young(&story); /* too little: less than 1 MiB */
	story.each.parts[FOOTPRINT_TOO_YOUNG] = MIB;
	story.until = 5;
	assert_none_too_young(&story); /* it has levelled off */
	story.until = 0;
	story.period = 3;
	assert_none_too_young(&story); /* it rises and falls: a sawtooth */
	story.period = 0;
	story.kind = KIND_DESCRIPTOR;
	assert_none_too_young(&story);
	story.kind = KIND_HEAP;
	story.each.parts[FOOTPRINT_ANONYMOUS] = 128 * MIB;
	assert_none_too_young(&story); /* it is less than a hundredth of the memory */
}

static struct rss_past past_of(const uint64_t *kept, size_t cnt)
{
	struct rss_past past = {0};

	for (size_t i = 0; i < cnt; i++)
		rss_past_add(&past, 7, 10 * i, &(struct rss){.parts = {[RSS_TOP] = kept[i]}});
	return past;
}

/*
 * Growth that begins between two points of the history is measured from the larger of their values.
 * If the last point is too old, there is no growth.
 */
static void kept_since(void **state)
{
	static const uint64_t rises[] = {100, 500, 600}, falls[] = {500, 100, 600, 550};
	struct rss_past past = past_of(rises, 3);

	(void)state;
	assert_true(rss_past_kept(&past, RSS_KEPT_ALL, 0, 20) == 500);
	assert_true(rss_past_kept(&past, RSS_KEPT_ALL, 5, 20) == 100);
	assert_true(rss_past_kept(&past, RSS_KEPT_ALL, 10, 30) == 100);
	assert_true(rss_past_kept(&past, RSS_KEPT_ALL, 10, 32) == 0);
	past = past_of(falls, 4);
	assert_true(rss_past_kept(&past, RSS_KEPT_ALL, 5, 30) == 50);
	assert_true(rss_past_kept(&past, RSS_KEPT_ALL, 20, 30) == 0);
	past = past_of(falls, 0);
	assert_true(rss_past_kept(&past, RSS_KEPT_ALL, 0, 30) == 0);
}

/*
 * Mappings grow. Traced mappings and threads explain growth, traced heap blocks do not. Each second
 * adds MAPPINGS, because growth by less than a hundredth does not count.
 */
static void mappings(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_MAPPINGS] = MAPPINGS, .kind = KIND_MMAP};

	assert_grows(&story, FOOTPRINT_MAPPINGS, MAPPINGS);
	story.traced_cnt_each = MAPPINGS;
	assert_nothing(&story);
	story.kind = KIND_HEAP;
	assert_grows(&story, FOOTPRINT_MAPPINGS, MAPPINGS);
	story.each.parts[FOOTPRINT_MAPPINGS] = MAPPINGS / 4;
	assert_nothing(&story);
	story = (struct story){
		.each.parts = {
			[FOOTPRINT_MAPPINGS] = 3 * MAPPINGS, [FOOTPRINT_THREADS] = MAPPINGS}};
	assert_grows(&story, FOOTPRINT_THREADS, MAPPINGS);
}

/* Growth of address space counts only near its limit, and if the address space is not in use. */
static void address_space_near_its_limit(void **state)
{
	struct story story = {.each = {.parts[FOOTPRINT_VIRTUAL] = MIB, .virtual_max = 40 * MIB}};

	assert_grows(&story, FOOTPRINT_VIRTUAL, MIB);
	story.each.virtual_max = 100 * MIB;
	assert_nothing(&story);
	story.each.virtual_max = 40 * MIB;
	story.each.parts[FOOTPRINT_ANONYMOUS] = story.traced_each = MIB;
	assert_nothing(&story);
}

/*
 * Page tables grow while memory is touched that does not stay resident. Resident memory explains
 * its page tables.
 */
static void page_tables(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_PAGE_TABLES] = MIB};

	assert_grows(&story, FOOTPRINT_PAGE_TABLES, MIB);
	story.each.parts[FOOTPRINT_ANONYMOUS] = story.traced_each = MIB;
	assert_nothing(&story);
}

/* Data that waits in sockets is kernel memory of the process: traced blocks do not explain it. */
static void data_in_sockets(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_SOCKETS] = MIB, .traced_each = 2 * MIB};

	assert_grows(&story, FOOTPRINT_SOCKETS, MIB);
}

/*
 * Growth of the user's files on tmpfs is pending, unless files that the process has open or
 * mapped explain it: another process may have made the files.
 */
static void files_on_tmpfs(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_TMPFS] = MIB};
	struct untraced_growths growths = after(&story);

	assert_int_equal(growths.cnt, 0);
	assert_non_null(growths.pending.process);
	assert_int_equal(growths.pending.part, FOOTPRINT_TMPFS);
	assert_true(growths.pending_bytes == (REPORTS - 1) * MIB);
	untraced_growths_deinit(&growths);
	for (size_t i = 0; i < 2; i++) {
		const enum footprint_part parts[] = {FOOTPRINT_UNMAPPED, FOOTPRINT_SHARED};

		story.each.parts[parts[i]] = MIB;
		growths = after(&story);
		assert_null(growths.pending.process);
		untraced_growths_deinit(&growths);
		story.each.parts[parts[i]] = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps),
		cmocka_unit_test(kept_since),
		cmocka_unit_test(mappings),
		cmocka_unit_test(address_space_near_its_limit),
		cmocka_unit_test(page_tables),
		cmocka_unit_test(data_in_sockets),
		cmocka_unit_test(files_on_tmpfs),
		cmocka_unit_test(too_young_block),
		cmocka_unit_test(explained_at_any_age),
		cmocka_unit_test(too_young_without_growth),
		cmocka_unit_test(anonymous_memory),
		cmocka_unit_test(explained),
		cmocka_unit_test(small_blocks),
		cmocka_unit_test(shared_memory),
		cmocka_unit_test(huge_pages),
		cmocka_unit_test(pieces),
		cmocka_unit_test(traced_descriptors),
		cmocka_unit_test(trifles),
		cmocka_unit_test(pending),
		cmocka_unit_test(no_rise),
		cmocka_unit_test(slight_rise),
		cmocka_unit_test(parts_of_rises),
		cmocka_unit_test(unmapped_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
