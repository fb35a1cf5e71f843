// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the model of the live screen: how keys and reports change the rows that it lists. With
 * GOLDEN_UPDATE=1, rewrites the recording that the test cases live.* show.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "recording/recording.h"
#include "screen/model.h"
#include "tests/unit/lib/fake_symbols.h"
#include "tests/unit/lib/golden.h"
#include "tests/unit/lib/random.h"
#include "tests/unit/lib/scenes.h"
#include "tests/unit/screen/moments.h"

#define RECORDING "tests/golden/live/run.mlk"
#define MANY 10000

static struct shown_report *shown_of(const struct snapshot *snap, const struct growth *growth,
				     bool with_blocks)
{
	struct fake_symbols symbols = fake_symbols_of(known_locations, LENGTH(known_locations));
	const struct options opts = {.top = UINT32_MAX, .show_allocs = with_blocks};
	struct shown_report *shown;
	struct report report;

	assert_int_equal(
		report_init(&opts, snap, growth, &symbols.backend, UINT64_MAX, false, &report), 0);
	assert_int_equal(shown_report__new(&report, NULL, &shown), 0);
	report_deinit(&report);
	return shown;
}

/* Returns the report after the first cnt snapshots of `moments`. */
static struct shown_report *shown_at(size_t cnt)
{
	struct growth growth[8] = {0};
	struct shown_report *shown;
	struct ranking *ranking;

	assert_int_equal(ranking__new(&ranking), 0);
	for (size_t i = 0; i < cnt; i++)
		assert_int_equal(ranking__update(ranking, &moments[i], growth), 0);
	shown = shown_of(&moments[cnt - 1], growth, false);
	ranking__free(ranking);
	return shown;
}

static struct model model_at(size_t cnt)
{
	struct model model;

	model_init(VIEW_STACK, COLUMN_BYTES, &model);
	model.page_rows = 3;
	assert_int_equal(model_show(&model, shown_at(cnt)), 0);
	return model;
}

static enum screen_ask press(struct model *model, uint32_t key)
{
	enum screen_ask ask;

	assert_int_equal(model_key(model, key, &ask), 0);
	return ask;
}

static void type(struct model *model, const char *text)
{
	for (; *text; text++)
		assert_int_equal(press(model, (unsigned char)*text), ASK_NOTHING);
}

/* Each digit of `ids` is the id of a row. */
static void assert_rows(const struct model *model, const char *ids)
{
	char text[32] = "";

	for (size_t i = 0; i < model->row_cnt; i++)
		snprintf(text + i, sizeof(text) - i, "%d", (int)model->rows[i]->id);
	assert_string_equal(text, ids);
}

static void order(void **state)
{
	struct model model = model_at(8);

	assert_rows(&model, "21435");
	type(&model, "2"); /* sort by count */
	assert_rows(&model, "12345");
	type(&model, "2");
	assert_rows(&model, "54321");
	type(&model, "3"); /* sort by change */
	assert_rows(&model, "14253");
	type(&model, "7"); /* sort by name */
	assert_string_equal(model.rows[0]->name, "fill fill.cc:7");
	type(&model, "6"); /* sort by verdict */
	assert_int_equal(model.rows[0]->id, 1);
	assert_true(model.rows[0]->suspect);
	type(&model, "S");
	assert_int_equal(model.sort, COLUMN_AGE);
	type(&model, "ss");
	assert_int_equal(model.sort, COLUMN_NAME);
	model_deinit(&model);
}

/*
 * The selected row stays selected when it moves in the list. If it is the top row, the top row of
 * the next report is selected instead.
 */
static void chosen(void **state)
{
	struct model model = model_at(5);

	assert_rows(&model, "21345");
	press(&model, KEY_IS_DOWN);
	press(&model, KEY_IS_DOWN);
	assert_int_equal(model_selected(&model)->id, 3);
	assert_int_equal(model_show(&model, shown_at(8)), 0);
	assert_rows(&model, "21435");
	assert_int_equal(model_selected(&model)->id, 3);
	assert_int_equal(model.top, 1);
	press(&model, KEY_IS_HOME);
	press(&model, KEY_IS_UP);
	assert_int_equal(model.top, 0);
	press(&model, KEY_IS_END);
	assert_int_equal(model_selected(&model)->id, 5);
	assert_int_equal(model.top, 2);
	model_deinit(&model);
}

static void filter(void **state)
{
	struct model model = model_at(8);

	assert_int_equal(press(&model, '/'), ASK_NOTHING);
	type(&model, "LEAK_BI");
	assert_rows(&model, "4");
	assert_int_equal(model.hidden_cnt, 4);
	press(&model, KEY_IS_BACKSPACE);
	press(&model, KEY_IS_BACKSPACE);
	assert_string_equal(model.filter, "LEAK_");
	press(&model, 0xe9);
	assert_string_equal(model.filter, "LEAK_\xc3\xa9");
	assert_int_equal(model.row_cnt, 0);
	assert_null(model_selected(&model));
	press(&model, KEY_IS_DOWN);
	press(&model, KEY_IS_BACKSPACE);
	assert_string_equal(model.filter, "LEAK_");
	press(&model, KEY_IS_ENTER);
	assert_false(model.is_typing);
	assert_int_equal(model_show(&model, shown_at(8)), 0);
	assert_string_equal(model.filter, "LEAK_");
	press(&model, KEY_IS_ESCAPE);
	assert_rows(&model, "21435");
	/* The filter matches any function of the stack, and the process. */
	type(&model, "/main");
	assert_true(model.row_cnt && model.row_cnt < 5);
	press(&model, KEY_IS_ESCAPE);
	type(&model, "/worker (4712)");
	assert_rows(&model, "4");
	for (int i = 0; i < 2 * FILTER_SIZE; i++)
		press(&model, 0x1f600);
	assert_true(strlen(model.filter) < FILTER_SIZE);
	model_deinit(&model);
}

static void groups(void **state)
{
	struct model model = model_at(8);

	press(&model, KEY_IS_TAB);
	assert_int_equal(model.view, VIEW_PROCESS);
	assert_int_equal(model.row_cnt, 3);
	assert_string_equal(model.rows[0]->name, "leak (4711)");
	assert_int_equal(model.rows[0]->bytes, 8 * 30000 + 6 * 1048576 + 5 * 4096);
	assert_int_equal(model.rows[0]->change, 30000 - 5 * 4096);
	assert_true(model.rows[0]->suspect);
	assert_int_equal(model.rows[0]->spark[SPARK_CNT - 1], model.rows[0]->bytes);
	press(&model, KEY_IS_DOWN);
	press(&model, KEY_IS_ENTER);
	assert_string_equal(model.within, "worker (4712)");
	assert_rows(&model, "4");
	press(&model, KEY_IS_ENTER);
	assert_int_equal(model.page, PAGE_STACK);
	press(&model, 'q');
	press(&model, KEY_IS_ESCAPE);
	assert_null(model.within);
	assert_string_equal(model_selected(&model)->name, "worker (4712)");
	/* The view of threads needs a report that is split by threads, so the model asks for it. */
	assert_int_equal(press(&model, KEY_IS_TAB), ASK_THREADS);
	assert_int_equal(press(&model, KEY_IS_TAB), ASK_NOTHING);
	assert_int_equal(model.view, VIEW_MODULE);
	assert_int_equal(press(&model, KEY_IS_TAB), ASK_NOTHING);
	assert_int_equal(press(&model, KEY_IS_BACK_TAB), ASK_NOTHING);
	assert_int_equal(model.view, VIEW_MODULE);
	model_deinit(&model);
}

/* The start-up code that calls main() is not listed in a stack. */
static void start_up(void **state)
{
	struct model model = model_at(8);
	const struct screen_row *row = model.rows[1];

	assert_int_equal(row->id, 1);
	assert_int_equal(row->line_cnt, 2);
	assert_string_equal(row->lines[0]->text, "leak_small leak.c:12");
	assert_string_equal(row->lines[1]->text, "main src/leak.c:40");
	model_deinit(&model);
}

/*
 * The caller is chosen like the one in the line of a verdict: not main(), and not an unnamed
 * function.
 */
static void callers(void **state)
{
	struct model model = model_at(8);

	assert_rows(&model, "21435");
	assert_string_equal(model.rows[0]->name, "fill fill.cc:7");
	assert_string_equal(model.rows[0]->caller, "run");
	assert_string_equal(model.rows[1]->name, "leak_small leak.c:12");
	assert_null(model.rows[1]->caller);
	assert_string_equal(model.rows[3]->caller, "__vdso_gettimeofday");
	assert_null(model.rows[4]->caller);
	press(&model, KEY_IS_TAB);
	assert_null(model.rows[0]->caller);
	model_deinit(&model);
}

static uint64_t median_ms(uint64_t newest_ms, uint64_t oldest_ms, const uint32_t ages[3])
{
	struct screen_row row = {.newest_ns = newest_ms * MS,
				 .oldest_ns = oldest_ms * MS,
				 .ages = {[11] = ages[0], [12] = ages[1], [13] = ages[2]}};

	screen_row_set_median(&row);
	return row.median_ns == AGE_UNKNOWN ? AGE_UNKNOWN : row.median_ns / MS;
}

/* Tests the median age of blocks. Age class 12 has the blocks that are 2048 ms to 4096 ms old. */
static void ages(void **state)
{
	static const uint32_t none[3], spread[] = {1, 2, 1}, same[] = {0, 3, 0}, old[] = {1, 0, 4};
	struct screen_row unknown = {.newest_ns = AGE_UNKNOWN, .oldest_ns = AGE_UNKNOWN};
	struct model model = model_at(8);

	assert_int_equal(median_ms(1500, 5000, spread), 3072);
	assert_int_equal(median_ms(2100, 2200, same), 2150);
	assert_int_equal(median_ms(2100, 2100, same), 2100);
	assert_int_equal(median_ms(1500, 4496, old), 4096 + 400 * 3 / 8);
	assert_int_equal(median_ms(5000, 5000, none), 5000);
	assert_int_equal(median_ms(1500, 5000, none), AGE_UNKNOWN);
	screen_row_set_median(&unknown);
	assert_int_equal(unknown.median_ns, AGE_UNKNOWN);

	press(&model, KEY_IS_TAB); /* now a row has the blocks of three stacks */
	assert_string_equal(model.rows[0]->name, "leak (4711)");
	assert_int_equal(model.rows[0]->ages[12], 2400 + 6 + 5);
	assert_int_equal(model.rows[0]->newest_ns, MS);
	assert_int_equal(model.rows[0]->median_ns, 3072 * MS);
	type(&model, "5");
	assert_string_equal(model.rows[0]->name, "leak (4711)");
	type(&model, "I");
	assert_string_equal(model.rows[model.row_cnt - 1]->name, "leak (4711)");
	model_deinit(&model);
}

/* In a recording, j and a number jump to the snapshot with this number. */
static void jumps(void **state)
{
	struct model model = model_at(8);

	type(&model, "j");
	assert_int_equal(model.selected, 1);
	model.recorded = true;
	model.moment_cnt = 12;
	model.wanted_moment = 11;
	type(&model, "j5");
	assert_int_equal(model.selected, 1);
	assert_int_equal(press(&model, KEY_IS_ENTER), ASK_MOMENT);
	assert_int_equal(model.wanted_moment, 4);
	type(&model, "j13");
	assert_int_equal(press(&model, KEY_IS_BACKSPACE), ASK_NOTHING);
	assert_int_equal(press(&model, KEY_IS_ENTER), ASK_MOMENT);
	assert_int_equal(model.wanted_moment, 0);
	type(&model, "j99");
	assert_int_equal(press(&model, KEY_IS_ENTER), ASK_MOMENT);
	assert_int_equal(model.wanted_moment, 11);
	type(&model, "j3");
	assert_int_equal(press(&model, KEY_IS_ESCAPE), ASK_NOTHING);
	type(&model, "j0");
	assert_int_equal(press(&model, KEY_IS_ENTER), ASK_NOTHING);
	assert_int_equal(model.wanted_moment, 11);
	assert_int_equal(press(&model, 'T'), ASK_MOMENT);
	assert_int_equal(press(&model, 'T'), ASK_MOMENT);
	assert_int_equal(press(&model, 't'), ASK_MOMENT);
	assert_int_equal(model.wanted_moment, 10);
	model_deinit(&model);
}

static void threads(void **state)
{
	const struct snapshot snap = {.sites = thread_sites,
				      .site_cnt = 2,
				      .blocks = thread_blocks,
				      .block_cnt = 5,
				      .wall_ns = WALL_NS};
	const struct growth growth[2] = {0};
	struct model model;

	model_init(VIEW_THREAD, COLUMN_BYTES, &model);
	assert_int_equal(model_show(&model, shown_of(&snap, growth, true)), 0);
	assert_int_equal(model.row_cnt, 2);
	assert_string_equal(model.rows[0]->name, "thread 4711 of leak (4711)");
	assert_int_equal(model.rows[0]->bytes, 4194304 + 16);
	assert_int_equal(model.rows[1]->bytes, 1048576 + 16 + 48);
	assert_int_equal(model.rows[1]->count, 3);
	press(&model, KEY_IS_DOWN);
	press(&model, KEY_IS_ENTER);
	assert_int_equal(model.row_cnt, 2);
	assert_int_equal(model.rows[0]->bytes, 1048576);
	assert_int_equal(model.rows[1]->bytes, 64);
	/* The ages of a stack's blocks are not known for each thread. */
	for (size_t i = 0; i < 2; i++) {
		assert_true(model.rows[i]->newest_ns == AGE_UNKNOWN);
		assert_true(model.rows[i]->median_ns == AGE_UNKNOWN);
		assert_true(model.rows[i]->oldest_ns == AGE_UNKNOWN);
		assert_int_equal(model.rows[i]->ages[4], 0);
	}
	model_deinit(&model);
}

static void assert_changes(struct model *model, double first, double second)
{
	assert_int_equal(model->row_cnt, 2);
	assert_true(model->rows[0]->change == first);
	assert_true(model->rows[1]->change == second);
}

/* Two threads of a stack change by different amounts. */
static void thread_changes(void **state)
{
	static const struct block added = {.site = 0, .addr = 9, .size = 1000, .tid = 4712};
	struct block blocks[6] = {added};
	struct snapshot snap = {.sites = thread_sites, .site_cnt = 2, .wall_ns = WALL_NS};
	const struct growth growth[2] = {0};
	struct model model;

	memcpy(blocks + 1, thread_blocks, 5 * sizeof(*blocks));
	model_init(VIEW_THREAD, COLUMN_BYTES, &model);
	snap.blocks = blocks + 1;
	snap.block_cnt = 5;
	assert_int_equal(model_show(&model, shown_of(&snap, growth, false)), 0);
	assert_int_equal(model_show(&model, shown_of(&snap, growth, true)), 0);
	assert_int_equal(model.row_cnt, 2);
	assert_true(isnan(model.rows[0]->change) && isnan(model.rows[1]->change));
	snap.blocks = blocks;
	snap.block_cnt = 6;
	assert_int_equal(model_show(&model, shown_of(&snap, growth, true)), 0);
	assert_changes(&model, 0, 1000);
	type(&model, "m1");
	assert_changes(&model, 0, 0);
	snap.blocks = blocks + 1;
	snap.block_cnt = 5;
	assert_int_equal(model_show(&model, shown_of(&snap, growth, true)), 0);
	assert_changes(&model, 0, -1000);
	model_deinit(&model);
}

/* Changes of threads are unknown if the mark has no threads, and in recordings. */
static void unknown_thread_changes(void **state)
{
	const struct snapshot snap = {.sites = thread_sites,
				      .site_cnt = 2,
				      .blocks = thread_blocks,
				      .block_cnt = 5,
				      .wall_ns = WALL_NS};
	const struct growth growth[2] = {0};

	for (size_t recorded = 0; recorded <= 1; recorded++) {
		struct model model;

		model_init(VIEW_THREAD, COLUMN_BYTES, &model);
		model.recorded = recorded;
		assert_int_equal(model_show(&model, shown_of(&snap, growth, recorded)), 0);
		if (!recorded)
			type(&model, "m1");
		assert_int_equal(model_show(&model, shown_of(&snap, growth, true)), 0);
		assert_int_equal(model.row_cnt, 2);
		assert_true(isnan(model.rows[0]->change) && isnan(model.rows[1]->change));
		model_deinit(&model);
	}
}

static void marks(void **state)
{
	struct model model = model_at(4);

	type(&model, "m");
	assert_int_equal(model.sort, COLUMN_CHANGE);
	assert_int_equal(model_show(&model, shown_at(8)), 0);
	assert_rows(&model, "14325");
	assert_int_equal(model.rows[0]->change, 4 * 30000);
	/* this site appeared after the user had set the mark */
	assert_int_equal(model.rows[1]->change, 4 * 7000);
	assert_int_equal(model.rows[3]->change, 0);
	type(&model, "M");
	assert_int_equal(model.mark_ns, 0);
	assert_int_equal(model.rows[0]->change, 30000);
	model_deinit(&model);
}

static void pauses(void **state)
{
	struct model model = model_at(4);

	type(&model, "p");
	assert_int_equal(model_show(&model, shown_at(7)), 0);
	assert_int_equal(model_show(&model, shown_at(8)), 0);
	assert_int_equal(model.shown->elapsed_ns, 20000 * MS);
	type(&model, " ");
	assert_int_equal(model.shown->elapsed_ns, 40000 * MS);
	assert_null(model.newest);
	model_deinit(&model);
}

/* The results of a proof are still shown with later reports. */
static void proof(void **state)
{
	const struct snapshot proved = {
		.sites = proved_sites, .site_cnt = 6, .proof = &proof_still, .wall_ns = WALL_NS};
	struct snapshot later = proved;
	const struct growth growth[6] = {0};
	char verdict[SHORT_AMOUNT_SIZE];
	struct site sites[6];
	struct model model;

	memcpy(sites, proved_sites, sizeof(sites));
	for (size_t i = 0; i < 6; i++)
		sites[i].reach = (struct site_reach){0};
	later.sites = sites;
	later.proof = NULL;
	later.wall_ns++;
	model_init(VIEW_STACK, COLUMN_VERDICT, &model);
	assert_int_equal(model_show(&model, shown_of(&proved, growth, false)), 0);
	assert_true(model.rows[0]->lost.count > 0);
	row_verdict(model.rows[0], verdict);
	assert_memory_equal(verdict, "lost ", 5);
	assert_int_equal(model_show(&model, shown_of(&later, growth, false)), 0);
	assert_false(model.shown->proved);
	assert_int_equal(model.shown->proof_ns, WALL_NS);
	assert_true(model.rows[0]->lost.count > 0);
	model_deinit(&model);
}

static void check_texts(const struct shown_report *shown)
{
	check_text(shown->target);
	check_text(shown->verdict);
	check_text(shown->facts);
	for (size_t i = 0; i < shown->row_cnt; i++) {
		check_text(shown->rows[i].name);
		check_text(shown->rows[i].process);
		check_text(shown->rows[i].module);
		check_text(shown->rows[i].notes);
		if (shown->rows[i].caller)
			check_text(shown->rows[i].caller);
		for (size_t j = 0; j < shown->rows[i].line_cnt; j++)
			check_text(shown->rows[i].lines[j]->text);
	}
}

static void hostile_names(void **state)
{
	const struct snapshot snap = {.sites = hostile_sites, .site_cnt = 2};
	const struct growth growth[2] = {0};
	struct shown_report *shown = shown_of(&snap, growth, false);

	assert_int_equal(shown->row_cnt, 2);
	check_texts(shown);
	shown_report__free(shown);
	shown = shown_at(8);
	check_texts(shown);
	shown_report__free(shown);
}

static void amounts(void **state)
{
	static const struct {
		double bytes;
		const char *text;
	} known[] = {
		{0, "0"},           {1, "1"},          {999, "999"},      {1000, "0.98K"},
		{1023, "1.00K"},    {1024, "1.00K"},   {10239, "10.0K"},  {102400, "100K"},
		{1048575, "1.00M"}, {-1536, "-1.50K"}, {1.6e19, "13.9E"}, {5242880, "5.00M"},
	};
	char text[SHORT_AMOUNT_SIZE];

	for (size_t i = 0; i < LENGTH(known); i++) {
		short_amount(known[i].bytes, text);
		assert_string_equal(text, known[i].text);
	}
	short_age(AGE_UNKNOWN, text);
	assert_string_equal(text, "-");
	short_age(99 * 1000 * MS, text);
	assert_string_equal(text, "99s");
	short_age(AGE_UNKNOWN - 1, text);
	assert_string_equal(text, "213503d");
}

static uint64_t random_below(uint64_t *seed, uint64_t end)
{
	return random_next(seed) % end;
}

static void check_model(const struct model *model)
{
	assert_true(!model->row_cnt || model->selected < model->row_cnt);
	assert_true(model->top <= model->selected);
	assert_true(model->selected < model->top + model->page_rows);
	assert_true(strlen(model->filter) < FILTER_SIZE);
	assert_true(model->page != PAGE_STACK || model_selected(model));
}

static void any_keys(void **state)
{
	static const char keys[] = "jkgGqsS1234567I/mMpvhoPbwRtT,.<>{}\t aelm_";
	uint64_t seed = 1;
	struct model model;

	model_init(VIEW_STACK, COLUMN_BYTES, &model);
	model.recorded = true;
	model.moment_cnt = MOMENTS;
	for (int i = 0; i < 20000; i++) {
		uint64_t chance = random_below(&seed, 80);

		if (chance == 0)
			assert_int_equal(model_show(&model, shown_at(1 + random_below(&seed, 8))),
					 0);
		else if (chance < 30)
			press(&model, KEY_IS_UP + (uint32_t)random_below(&seed, 15));
		else
			press(&model, (unsigned char)keys[random_below(&seed, sizeof(keys) - 1)]);
		model.page_rows = 1 + random_below(&seed, 5);
		if (model.top + model.page_rows <= model.selected)
			model.top = model.selected - model.page_rows + 1;
		model.line_cnt = random_below(&seed, 9);
		check_model(&model);
		assert_true(model.wanted_moment < MOMENTS);
	}
	model_deinit(&model);
}

static double seconds_of(struct model *model, const char *keys)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

	type(model, keys);
	return (double)(clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e6 / (double)strlen(keys);
}

/* Prints the time for a key. There is no limit, as it would depend on the machine. */
static void many_rows(void **state)
{
	static struct site sites[MANY];
	static struct growth growth[MANY];
	const struct snapshot snap = {.sites = sites, .site_cnt = MANY, .wall_ns = WALL_NS};
	const uint64_t *const stacks[] = {small_stack, big_stack, cxx_stack, odd_stack};
	const size_t lengths[] = {3, 2, 3, 8};
	struct shown_report *shown;
	uint64_t begin_ns;
	struct model model;

	for (size_t i = 0; i < MANY; i++) {
		sites[i] = (struct site){.id = i + 1,
					 .process = &leak,
					 .bytes = i * 7919 % MANY + 1,
					 .count = 1,
					 .frames = stacks[i % 4],
					 .frame_cnt = lengths[i % 4]};
		growth[i].bytes = (int64_t)(i * 104729 % MANY);
	}
	model_init(VIEW_STACK, COLUMN_BYTES, &model);
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	shown = shown_of(&snap, growth, false);
	print_message("%d rows: a report is copied in %.1f ms,", MANY,
		      (double)(clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e6);
	assert_int_equal(model_show(&model, shown), 0);
	assert_int_equal(model.row_cnt, MANY);
	assert_int_equal(model.rows[0]->bytes, MANY);
	print_message(" a key that sorts takes %.1f ms,", seconds_of(&model, "1234567"));
	print_message(" that moves %.3f ms,", seconds_of(&model, "jjjjGkkkkg"));
	print_message(" that filters %.1f ms\n", seconds_of(&model, "/leak_big"));
	assert_int_equal(model.row_cnt, MANY / 4);
	model_deinit(&model);
}

/* Reads all of the recording. It must have MOMENTS snapshots. */
static void recording(void **state)
{
	struct recorded_moment moment;
	struct recording *read;
	FILE *file;
	int cnt = 0;

	if (getenv("GOLDEN_UPDATE")) {
		struct fake_symbols symbols =
			fake_symbols_of(known_locations, LENGTH(known_locations));
		struct recorder *recorder;

		assert_int_equal(recorder__new(RECORDING, &recorder), 0);
		assert_int_equal(recorder__begin(recorder, RECORDING_AGES), 0);
		for (size_t i = 0; i < MOMENTS; i++)
			assert_int_equal(recorder__add(recorder, &moments[i], i + 1 == MOMENTS,
						       &symbols.backend, UINT64_MAX),
					 0);
		recorder__free(recorder);
	}
	file = fopen(RECORDING, "re");
	assert_non_null(file);
	assert_int_equal(recording__new(file, &read), 0);
	while (recording__skip(read, &moment) == 1)
		assert_int_equal(moment.elapsed_ns, moments[cnt++].elapsed_ns);
	assert_int_equal(cnt, MOMENTS);
	recording__free(read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order),
		cmocka_unit_test(chosen),
		cmocka_unit_test(filter),
		cmocka_unit_test(groups),
		cmocka_unit_test(start_up),
		cmocka_unit_test(callers),
		cmocka_unit_test(ages),
		cmocka_unit_test(jumps),
		cmocka_unit_test(threads),
		cmocka_unit_test(thread_changes),
		cmocka_unit_test(unknown_thread_changes),
		cmocka_unit_test(marks),
		cmocka_unit_test(pauses),
		cmocka_unit_test(proof),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(amounts),
		cmocka_unit_test(any_keys),
		cmocka_unit_test(many_rows),
		cmocka_unit_test(recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
