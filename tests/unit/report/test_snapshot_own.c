// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that a snapshot can own its data: reports do not change when the source's data is freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "report/counts.h"
#include "report/peak.h"
#include "report/snapshot_own.h"
#include "sinks/sink.h"
#include "tests/unit/lib/fake_symbols.h"
#include "tests/unit/lib/past.h"
#include "tests/unit/lib/scenes.h"

#define SITES 4
#define PIECES_MAX 32

/* Memory of a snapshot's source. Each piece is allocated separately. */
struct source {
	void *pieces[PIECES_MAX];
	size_t lens[PIECES_MAX];
	size_t cnt;
};

static void *source_copy(struct source *source, const void *bytes, size_t len)
{
	void *piece = malloc(len);

	assert_non_null(piece);
	assert_in_range(source->cnt, 0, PIECES_MAX - 1);
	memcpy(piece, bytes, len);
	source->pieces[source->cnt] = piece;
	source->lens[source->cnt++] = len;
	return piece;
}

static char *source_copy_string(struct source *source, const char *text)
{
	return source_copy(source, text, strlen(text) + 1);
}

static void source_free(struct source *source)
{
	for (size_t i = 0; i < source->cnt; i++) {
		memset(source->pieces[i], 0xa5, source->lens[i]);
		free(source->pieces[i]);
	}
}

static struct process *source_copy_process(struct source *source, pid_t pid, const char *comm)
{
	const struct process process = {
		.image = (uint32_t)pid,
		.pid = pid,
		.comm = source_copy_string(source, comm),
		.cgroup = source_copy_string(source, "/a/b"),
	};

	return source_copy(source, &process, sizeof(process));
}

static struct site source_copy_site(struct source *source, uint64_t id,
				    const struct process *process)
{
	struct site site = BIG;

	site.id = id;
	site.process = process;
	site.frames = source_copy(source, id % 2 ? small_stack : big_stack, sizeof(big_stack));
	site.frame_cnt = LENGTH(big_stack);
	site.births = source_copy(source, &(struct ages){.bytes = {7}, .count = {1}},
				  sizeof(*site.births));
	if (!process) {
		site.space = SPACE_KERNEL;
		site.origin.last_pid = 9;
		site.origin.last_comm = source_copy_string(source, "kworker/0:1");
		site.origin.cache = source_copy_string(source, "kmalloc-64");
	}
	return site;
}

static const struct peak *source_copy_peak(struct source *source, const struct site *sites)
{
	const struct peak peak = {
		.wall_ns = WALL_NS,
		.bytes = 2 * sites[0].bytes,
		.count = 2 * sites[0].count,
		.highest_bytes = 3 * sites[0].bytes,
		.sites = source_copy(source, sites, 2 * sizeof(*sites)),
		.site_cnt = 2,
	};

	return source_copy(source, &peak, sizeof(peak));
}

/*
 * Makes a snapshot with three sites: two of one process and one of another, and a site of the
 * kernel.
 */
static struct snapshot make_snapshot_of(struct source *source)
{
	struct process *one = source_copy_process(source, 10, "one"),
		       *two = source_copy_process(source, 11, "t\xffwo");
	struct snapshot snap = SNAPSHOT_OF(calloc(SITES, sizeof(struct site)), SITES,
					   .summaries = calloc(1, sizeof(struct process_summary)),
					   .tallies = calloc(1, sizeof(struct process_tally)),
					   .summary_cnt = 1, .tally_cnt = 1);

	assert_non_null(snap.sites);
	assert_non_null(snap.summaries);
	assert_non_null(snap.tallies);
	snap.sites[0] = source_copy_site(source, 1, one);
	snap.sites[1] = source_copy_site(source, 2, one);
	snap.sites[2] = source_copy_site(source, 3, two);
	snap.sites[3] = source_copy_site(source, 4, NULL);
	snap.summaries[0] = (struct process_summary){.process = one, .allocated = 1, .calls = 1};
	snap.tallies[0] =
		(struct process_tally){.process = two, .refused = 17, .earlier = {3, 2, 1}};
	snap.lost[LOSS_RECURSION] = 1;
	moments_add(&snap.earlier, 1);
	snap.peak = source_copy_peak(source, snap.sites + 1);
	snap.hanging =
		source_copy(source, &(struct hanging_sum){1, 2, {3, 4}}, sizeof(*snap.hanging));
	snap.hanging_cnt = 1;
	return snap;
}

static char *print(const struct snapshot *snap, enum output_format format)
{
	const struct options opts = {.top = 10, .peak = true, .summary = true};
	struct fake_symbols symbols = fake_symbols_of(known_locations, LENGTH(known_locations));
	struct past past = past_of(NULL, snap, 0);
	struct report report;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(
		report_init(&opts, snap, past.growth, &symbols.backend, UINT64_MAX, true, &report),
		0);
	assert_int_equal(sink_for(format)->report(out, &report), 0);
	report_deinit(&report);
	past_deinit(&past);
	fclose(out);
	return text;
}

static void outlives_source(void **state)
{
	struct source source = {0};
	struct snapshot snap = make_snapshot_of(&source);
	cleanup_free char *text = print(&snap, FORMAT_TEXT), *json = print(&snap, FORMAT_JSON),
			  *page = print(&snap, FORMAT_HTML);
	cleanup_free char *text_again = NULL, *json_again = NULL, *page_again = NULL;

	(void)state;
	assert_non_null(strstr(json, "kmalloc-64"));
	assert_non_null(strstr(json, "kworker/0:1"));
	assert_non_null(strstr(page, "\"births\":[0,7,1]"));
	assert_int_equal(snapshot_own(&snap), 0);
	source_free(&source);
	text_again = print(&snap, FORMAT_TEXT);
	json_again = print(&snap, FORMAT_JSON);
	page_again = print(&snap, FORMAT_HTML);
	assert_string_equal(text_again, text);
	assert_string_equal(json_again, json);
	assert_string_equal(page_again, page);
	assert_string_equal(snap.sites[0].process->cgroup, "/a/b");
	assert_int_equal(snap.hanging[0].site, 1);
	assert_int_equal(snap.hanging[0].of.count, 4);
	snapshot_deinit(&snap);
}

/*
 * A process of several sites is copied once. The frames of all sites are copied into one array, as
 * in snapshots from recordings.
 */
static void copies_once(void **state)
{
	struct source source = {0};
	struct snapshot snap = make_snapshot_of(&source);

	(void)state;
	assert_int_equal(snapshot_own(&snap), 0);
	source_free(&source);
	assert_ptr_equal(snap.sites[0].process, snap.sites[1].process);
	assert_ptr_equal(snap.sites[0].process, snap.peak->sites[0].process);
	assert_ptr_equal(snap.sites[0].process, snap.summaries[0].process);
	assert_ptr_equal(snap.sites[2].process, snap.tallies[0].process);
	for (size_t i = 0; i < SITES; i++)
		assert_ptr_equal(snap.sites[i].frames, snap.frames + i * LENGTH(big_stack));
	assert_ptr_equal(snap.peak->sites[0].frames, snap.frames + SITES * LENGTH(big_stack));
	snapshot_deinit(&snap);
}

/* A peak takes over the data of a snapshot. A later snapshot copies it from the peak. */
static void peak_outlives_snapshot(void **state)
{
	struct source source = {0};
	struct snapshot snap = make_snapshot_of(&source), later = SNAPSHOT_OF(NULL, 0);
	struct peak peak;

	(void)state;
	snap.sites[1].kind = KIND_RESERVE;
	assert_int_equal(snapshot_own(&snap), 0);
	source_free(&source);
	peak = peak_from(&snap);
	assert_null(snap.sites);
	assert_int_equal(peak.site_cnt, SITES - 1);
	assert_int_equal(peak.count, 5 * (SITES - 1));
	later.peak = &peak;
	assert_int_equal(snapshot_own(&later), 0);
	peak_deinit(&peak);
	assert_int_equal(later.peak->site_cnt, SITES - 1);
	assert_int_equal(later.peak->sites[1].id, 3);
	assert_string_equal(later.peak->sites[1].process->comm, "t\xffwo");
	assert_memory_equal(later.peak->sites[1].frames, small_stack, sizeof(big_stack));
	snapshot_deinit(&later);
}

static char *print_counts(const struct snapshot *snap)
{
	const struct options opts = {.top = 10};
	struct counts_report report;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(counts_report_init(&opts, snap, true, &report), 0);
	sink_for(FORMAT_JSON)->counts(out, &report);
	counts_report_deinit(&report);
	fclose(out);
	return text;
}

static void counts_outlive_source(void **state)
{
	struct source source = {0};
	const struct count_row rows[] = {
		{.key = 1,
		 .name = source_copy_string(&source, "a\nb"),
		 .calls = 3,
		 .total_calls = 4},
		{.key = 2, .calls = 1, .total_calls = 1},
	};
	const struct counts counts = {
		.by = COUNT_BY_PROCESS, .rows = source_copy(&source, rows, sizeof(rows)), .cnt = 2};
	struct snapshot snap =
		SNAPSHOT_OF(NULL, 0, .counts = source_copy(&source, &counts, sizeof(counts)));
	cleanup_free char *text = print_counts(&snap), *again = NULL;

	(void)state;
	assert_int_equal(snapshot_own(&snap), 0);
	source_free(&source);
	again = print_counts(&snap);
	assert_string_equal(again, text);
	snapshot_deinit(&snap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outlives_source),
		cmocka_unit_test(copies_once),
		cmocka_unit_test(peak_outlives_snapshot),
		cmocka_unit_test(counts_outlive_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
