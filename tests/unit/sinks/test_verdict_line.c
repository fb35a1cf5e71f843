// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the lines about suspected leaks, and what is left out of a line that would be too long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "report/core_facts.h"
#include "report/pools.h"
#include "report/runtime_objects.h"
#include "sinks/verdict.h"
#include "sinks/verdict_line.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define MIB (1 << 20)

struct names {
	const char *function;
	const char *through; /* NULL if it has called no library function */
	const char *caller;
	const char *file;
	size_t path_cnt;
	const char *expected; /* expected start of the line, after the time of day */
};

static char *line_of(const struct names *names, struct chunks chunks)
{
	static const uint64_t frames[] = {1, 2, 3};
	const struct sym_frame functions[] = {
		{.symbol = names->through},
		{.symbol = names->function, .file = names->file, .line = 11},
		{.symbol = names->caller}};
	const struct sym_location locations[] = {
		{.module = "/lib/l.so", .frame_cnt = 1, .frames = &functions[0]},
		{.module = "/srv/app", .frame_cnt = 1, .frames = &functions[1]},
		{.module = "/srv/app", .frame_cnt = 1, .frames = &functions[2]}};
	const struct sym_location *found[] = {&locations[0], &locations[1], &locations[2]};
	const struct site site = {.frames = frames, .frame_cnt = LENGTH(frames)};
	const struct site_history history = {
		.trend = {.tendency = TENDENCY_STEADY, .bytes_per_s = 24000, .score.total = 0.97}};
	const struct report_site shown = {.site = &site,
					  .locations = found,
					  .history = &history,
					  .blamed = {.frame = 1},
					  .has_through = names->through,
					  .common_callers =
						  chunks.bytes ? CALLERS_NONE : CALLERS_ALL,
					  .chunks = chunks};
	const struct suspect suspect = {.site = &shown,
					.path_cnt = names->path_cnt,
					.bytes_per_s = 24000,
					.seen = 600,
					.freed = names->path_cnt,
					.since_ns = 60000000000};
	const struct snapshot snap = {0};
	const struct report report = {.snapshot = &snap};
	char *text = NULL;
	size_t len;
	const struct text_part part = {
		open_memstream(&text, &len), &report, "", false, LOOK_BCC, NULL, false};

	assert_non_null(part.out);
	verdict_write_line(&part, &suspect);
	fclose(part.out);
	return text;
}

static char *verdict_of(const struct report *report, bool has_several_processes)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	verdict_write_text(
		&(struct text_part){out, report, "", has_several_processes, LOOK_BCC, NULL, false});
	fclose(out);
	return text;
}

static void lines(void **state)
{
	static const struct names known[] = {
		{"add", NULL, "run", "a.c", 1,
		 "add a.c:11, called by run, grows 23.4 KiB/s, steadily for 60 s; 1 of 600 blocks "
		 "freed\n"},
		{"add", NULL, "add", "a.c", 1,
		 "add a.c:11 grows 23.4 KiB/s, steadily for 60 s; 1 of 600 blocks freed\n"},
		{"add", NULL, "main", "a.c", 1,
		 "add a.c:11 grows 23.4 KiB/s, steadily for 60 s; 1 of 600 blocks freed\n"},
		{"find_user", "sqlite3_prepare_v2", "main", "/home/me/sql_stmt.c", 57,
		 "find_user me/sql_stmt.c:11, through sqlite3_prepare_v2, grows 23.4 KiB/s, "
		 "steadily for 60 s, 57 paths\n"},
		{"find_user.isra.0", "json_load", NULL, NULL, 2,
		 "find_user, through json_load, grows 23.4 KiB/s, steadily for 60 s, 2 paths; 2 of "
		 "600 "
		 "blocks freed\n"},
		{"shop::Cart<shop::Item, std::less<int> >::add(shop::Item const&)", NULL, "main",
		 "cart.cc", 1,
		 "shop::Cart<...>::add cart.cc:11 grows 23.4 KiB/s, steadily for 60 s; 1 of 600 "
		 "blocks freed\n"},
		{"very_long_namespace_of_a_company::another_one::AndThenAClass::and_its_method_too",
		 "another_function_with_a_name_that_is_long_for_no_reason", "main", "c.cc", 1,
		 "very_long_name..._its_method_too c.cc:11, through "
		 "another_functi...g_for_no_reason, grows"},
		{"JS:*remember /srv/app.js:3:1", NULL, "JS:~serve /srv/app.js:9:1", NULL, 1,
		 "remember srv/app.js:3, called by serve, grows 23.4 KiB/s, steadily for 60 s; 1 "
		 "of "
		 "600 blocks freed\n"},
		{"aria2::Option::Option(aria2::Option const&)", NULL, "aria2::addUri(int)", NULL, 2,
		 "aria2::Option::Option, called by aria2::addUri, grows 23.4 KiB/s, steadily for "
		 "60 s, 2 paths\n"},
	};

	for (size_t i = 0; i < LENGTH(known); i++) {
		cleanup_free char *line = line_of(&known[i], (struct chunks){0});
		const char *text = strchr(line, ' ') + 1;

		if (strncmp(text, known[i].expected, strlen(known[i].expected)))
			fail_msg("%s", line);
		if (strlen(line) > 121)
			fail_msg("%zu: %s", strlen(line) - 1, line);
	}
}

/*
 * A stack has the function add(), a frame `between`, and serve(). If only the direct caller is the
 * same in all stacks (CALLERS_ONE), no further caller is named. The interpreter that runs a script
 * is no caller.
 */
static void callers(void **state)
{
	static const struct {
		const char *module, *between, *outer_module;
		enum common_callers common;
		const char *expected;
	} known[] = {
		{"/srv/app", "run", "/srv/app", CALLERS_ALL, "add, called by run < serve, grows"},
		{"/srv/app", "run", "/srv/app", CALLERS_ONE, "add, called by run, grows"},
		{"/srv/app", NULL, "/srv/app", CALLERS_ALL, "add, called by serve, grows"},
		{"/srv/app", NULL, "/srv/app", CALLERS_ONE, "add grows"},
		{SYM_SCRIPT, "eval", SYM_SCRIPT, CALLERS_ALL, "add, called by serve, grows"},
		{SYM_SCRIPT, "eval", "/srv/app", CALLERS_ALL, "add grows"},
	};
	static const uint64_t frames[] = {1, 2, 3};
	const struct site site = {.frames = frames, .frame_cnt = LENGTH(frames)};
	const struct site_history history = {.trend = {.tendency = TENDENCY_STEADY}};
	const struct snapshot snap = {0};
	const struct report report = {.snapshot = &snap};

	for (size_t i = 0; i < LENGTH(known); i++) {
		const struct sym_frame functions[] = {
			{.symbol = "add"}, {.symbol = known[i].between}, {.symbol = "serve"}};
		const struct sym_location locations[] = {
			{.module = known[i].module, .frame_cnt = 1, .frames = &functions[0]},
			{.module = "/srv/app", .frame_cnt = 1, .frames = &functions[1]},
			{.module = known[i].outer_module, .frame_cnt = 1, .frames = &functions[2]}};
		const struct sym_location *found[] = {&locations[0], &locations[1], &locations[2]};
		const struct report_site shown = {.site = &site,
						  .locations = found,
						  .history = &history,
						  .common_callers = known[i].common};
		const struct suspect suspect = {.site = &shown,
						.path_cnt = 2,
						.bytes_per_s = 24000,
						.since_ns = 60000000000};
		cleanup_free char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		verdict_write_line(
			&(struct text_part){out, &report, "", false, LOOK_BCC, NULL, false},
			&suspect);
		fclose(out);
		if (!strstr(text, known[i].expected))
			fail_msg("%s", text);
	}
}

/* If a function fills a pool, its caller is not named. */
static void chunk_pool(void **state)
{
	static const struct names arena = {.function = "arena_alloc",
					   .caller = "parse",
					   .file = "/home/me/arena.c",
					   .path_cnt = 40};
	cleanup_free char *line = line_of(&arena, (struct chunks){65536, 40, POOL_AT_FRAME});

	assert_string_equal(strchr(line, ' ') + 1,
			    "the pool that arena_alloc me/arena.c:11 fills grows 23.4 KiB/s for "
			    "60 s (chunks of 64.0 KiB from 40 callers)\n");
}

/* If the function that fills a pool is not known, one of its callers is named as such. */
static void unknown_pool(void **state)
{
	static const struct names caller = {.function = "on_read", .caller = "run", .path_cnt = 6};
	cleanup_free char *line = line_of(&caller, (struct chunks){32768, 6, POOL_UNKNOWN});

	assert_string_equal(strchr(line, ' ') + 1,
			    "a pool grows 23.4 KiB/s, steadily for 60 s (chunks of 32.0 KiB from 6 "
			    "callers, such as on_read)\n");
}

/*
 * Objects of a language runtime grow. At the same time there is a pool, in the same process or in
 * another one, whose growth cannot be judged yet.
 */
static void part_of_a_pool(void **state)
{
	static const struct runtime_objects objects = {
		.words = "python objects", .advice = "pool advice", .advises_only_pools = true};
	static const struct process process = {1, 1, "one", NULL}, other = {2, 2, "other", NULL};
	static const char *const expected[] = {
		"python objects grow at least 700 bytes/s, steadily for 60 s; pool advice\n",
		"python objects grow 700 bytes/s, steadily for 60 s\n",
		"python objects grow 700 bytes/s, steadily for 60 s, held by variable a.b\n"};
	const struct site site = {.process = &process, .kind = KIND_HEAP};
	const struct site_history history = {.trend = {.tendency = TENDENCY_STEADY}};
	const struct report_site shown = {.site = &site, .history = &history, .objects = &objects};
	struct suspect suspect = {
		.site = &shown, .path_cnt = 1, .bytes_per_s = 700, .since_ns = 60000000000};
	const struct pool pools[] = {{.sum = {.process = &process}, .objects = &objects},
				     {.sum = {.process = &other}, .objects = &objects},
				     {.sum = {.process = &other}, .objects = &objects}};
	const struct snapshot snap = {0};

	for (size_t i = 0; i < LENGTH(pools); i++) {
		const struct report report = {.snapshot = &snap,
					      .suspects = &suspect,
					      .suspect_cnt = 1,
					      .suspects_total = 1,
					      .unclear = &pools[i]};
		suspect.in_pools = i == 0;
		suspect.holder = i == 2 ? "variable a.b" : NULL;
		cleanup_free char *text = verdict_of(&report, false);

		assert_int_equal(strncmp(strchr(text, ' ') + 1, expected[i], strlen(expected[i])),
				 0);
		/* Only a pool of another process gets its own line. */
		assert_int_equal(strstr(text, "not known yet") != NULL, i != 0);
	}
}

/* A suspect that has become much slower has its recent rate in the line. */
static void slows(void **state)
{
	static const double slowed[] = {0, 350, 450};
	static const struct process process = {1, 1, "one", NULL};
	static const struct runtime_objects objects = {.words = "python objects"};
	const struct site site = {.process = &process};
	const struct site_history history = {.trend = {.tendency = TENDENCY_STEADY}};
	const struct report_site shown = {.site = &site, .history = &history, .objects = &objects};
	static const char *const expected[] = {
		"grow 700 bytes/s, steadily for 60 s\n",
		"grow 700 bytes/s, steadily for 60 s\n",
		"grow 700 bytes/s (lately 250 bytes/s) for 60 s\n",
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(slowed); i++) {
		struct suspect suspect = {.site = &shown,
					  .path_cnt = 1,
					  .bytes_per_s = 700,
					  .slowed_per_s = slowed[i],
					  .since_ns = 60 * UINT64_C(1000000000)};
		const struct snapshot snap = {0};
		const struct report report = {.snapshot = &snap,
					      .suspects = &suspect,
					      .suspect_cnt = 1,
					      .suspects_total = 1};
		cleanup_free char *text = verdict_of(&report, false);

		assert_non_null(strstr(text, expected[i]));
	}
}

/* The advice depends on whether the report has lines of scripts. */
static void lineless_advice(void **state)
{
	static const struct runtime_objects objects = {.words = "python objects",
						       .advice = "advice with lines",
						       .lineless_advice = "advice without lines"};
	static const struct process process = {1, 1, "one", NULL};
	static const struct sym_location script = {.module = SYM_SCRIPT};
	static const struct sym_location *locations[] = {&script};
	static const uint64_t frames[] = {1};
	const struct site site = {.process = &process, .frames = frames, .frame_cnt = 1};
	const struct site sum = {.process = &process};
	const struct site_history history = {.trend = {.tendency = TENDENCY_STEADY}};
	struct report_site other = {.site = &site, .locations = locations};
	const struct report_site shown = {.site = &sum, .history = &history, .objects = &objects};
	const struct suspect suspect = {.site = &shown, .path_cnt = 1, .in_pools = true};
	const struct snapshot snap = {0};
	struct report report = {.snapshot = &snap, .sites = &other};

	for (size_t i = 0; i < 2; i++) {
		const struct text_part part = {NULL, &report, "", false, LOOK_BCC, NULL, false};
		cleanup_free char *line = NULL;

		report.site_cnt = i;
		line = verdict_suspect_line(&part, &suspect, 0);
		assert_non_null(strstr(line, i ? "; advice with lines" : "; advice without lines"));
	}
}

/* There is no all-clear while resident memory grows together with traced blocks. */
static void explained(void **state)
{
	static const struct process process = {.pid = 7};
	const struct snapshot snap = {0};
	const struct report report = {
		.snapshot = &snap,
		.judged = 2,
		.sites_total = 2,
		.untraced.explained = {&process, .per_s = 2048, .since_ns = 12000000000}};
	cleanup_free char *text = verdict_of(&report, false);

	assert_string_equal(strchr(text, ' ') + 1,
			    "not known yet whether memory leaks: RSS grows 2.0 KiB/s for 12 s, but "
			    "no site seems to leak\n");
}

/*
 * There is no all-clear while a block grows that is too young for the report. The block has its own
 * line, even if there is other growth.
 */
static void block_too_young(void **state)
{
	static const struct process process = {.pid = 7, .comm = "copier"};
	static struct untraced_growth shared = {&process, .part = FOOTPRINT_SHARED, .per_s = 1024,
						.since_ns = 8000000000};
	static const char younger[] = "the largest heap block of process 7 (copier) younger than "
				      "--older grows 4.0 KiB/s for 13 s: -o 0 shows it\n";
	static const struct {
		unsigned int judged;
		size_t untraced;
		bool any_age;
		const char *before; /* text just before the line, if there is one */
		const char *line;
	} scenes[] = {
		{2, 0, false, "not known yet whether memory leaks: ", younger},
		{2, 0, true, "not known yet whether memory leaks: ",
		 "the largest heap block of process 7 (copier) allocated while a report is made "
		 "grows 4.0 KiB/s for 13 s\n"},
		{2, 1, false, "] ", younger}, /* here it follows the line on untraced memory */
		{0, 0, false, NULL, NULL},
	};
	const struct snapshot snap = {0};

	(void)state;
	for (size_t i = 0; i < LENGTH(scenes); i++) {
		const struct report report = {
			.snapshot = &snap,
			.judged = scenes[i].judged,
			.any_age = scenes[i].any_age,
			.sites_total = 2,
			.untraced = {
				.items = &shared,
				.cnt = scenes[i].untraced,
				.explained = {&process, .per_s = 2048, .since_ns = 12000000000},
				.too_young = {&process, .per_s = 4096, .since_ns = 13000000000}}};
		const char *found;
		cleanup_free char *text = verdict_of(&report, true);

		found = strstr(text, "the largest heap block");
		if (!scenes[i].before) {
			assert_null(found);
			continue;
		}
		assert_non_null(found);
		assert_string_equal(found, scenes[i].line);
		assert_memory_equal(found - strlen(scenes[i].before), scenes[i].before,
				    strlen(scenes[i].before));
	}
}

/* There is no all-clear while untraced memory may go on growing. */
static void pending_growth(void **state)
{
	static const struct process process = {.pid = 7};
	const struct snapshot snap = {0};
	const struct report report = {
		.snapshot = &snap,
		.judged = 2,
		.sites_total = 2,
		.untraced = {.pending = {&process, .traced_per_s = 1024, .since_ns = 8000000000},
			     .pending_bytes = 3 << 20}};
	cleanup_free char *text = verdict_of(&report, false);

	assert_string_equal(
		strchr(text, ' ') + 1,
		"not known yet whether anonymous memory (RSS and swap) leaks: it grew by "
		"3.0 MiB in 8 s, traced blocks by 8.0 KiB: --rss -p 7 shows its use\n");
}

/*
 * The part of resident memory that grew most is named as the cause of growth of anonymous memory.
 * Pages of mapped files are named only if the other parts explain less than half of the growth, as
 * if libraries are loaded again and again.
 */
static void cause_of_growth(void **state)
{
	static const struct process process = {.pid = 7};
	static const struct rss first;
	static const struct {
		struct rss rss;
		const char *cause;
	} scenes[] = {
		{{.parts = {[RSS_LIVE] = 6 * MIB, [RSS_FILES] = 40 * MIB}},
		 "traced blocks 0 bytes/s: memory in use in glibc's heap +6.0 MiB since the "
		 "start\n"},
		{{.parts = {[RSS_LIVE] = 1 * MIB, [RSS_FILES] = 40 * MIB}},
		 "traced blocks 0 bytes/s: pages of mapped files +40.0 MiB since the start\n"},
		{{.parts = {[RSS_MAPPED] = 6 * MIB}},
		 "traced blocks 0 bytes/s: other anonymous memory +6.0 MiB since the start\n"},
		{{.parts = {[RSS_MAPPED] = 6 * MIB}, .room = 90 * MIB},
		 "traced blocks 0 bytes/s: other anonymous memory +6.0 MiB since the start, in "
		 "mappings with room for 90.0 MiB more\n"},
	};
	const struct snapshot snap = {0};
	struct untraced_growth growth = {
		.process = &process, .per_s = MIB, .since_ns = 10000000000};
	struct report report = {.snapshot = &snap,
				.judged = 2,
				.first_rss = &first,
				.untraced = {.items = &growth, .cnt = 1}};

	for (size_t i = 0; i < LENGTH(scenes); i++) {
		report.latest_rss = scenes[i].rss;
		cleanup_free char *text = verdict_of(&report, false);

		assert_non_null(strstr(text, scenes[i].cause));
	}
}

/* If kernel memory is not traced, an all-clear says so. */
static void kernel_is_not_traced(void **state)
{
	struct snapshot snap = {0};
	const struct report report = {.snapshot = &snap, .judged = 2, .sites_total = 2};

	for (size_t i = 0; i < 2; i++) {
		snap.stats[SPACE_KERNEL].known = i;
		cleanup_free char *text = verdict_of(&report, false);

		assert_non_null(strstr(text, "nothing seems to leak: none of the 2 sites grows"));
		assert_int_equal(strstr(text, "; kernel memory is not traced (-K)\n") != NULL, !i);
	}
}

/* An option that conflicts with those in use needs another run. */
static void another_run(void **state)
{
	static const struct process process = {.pid = 7};
	struct process_tally tally = {.process = &process,
				      .footprint.parts[FOOTPRINT_CHILDREN] = 1};
	const struct snapshot snap = {.tallies = &tally, .tally_cnt = 1};
	struct untraced_growth growth = {.part = FOOTPRINT_SHARED, .process = &process, .per_s = 1};
	struct report report = {.snapshot = &snap,
				.judged = 2,
				.refused = 1U << ADVISED_KERNEL | 1U << ADVISED_FOLLOW};
	cleanup_free char *clear = verdict_of(&report, false), *grows = NULL;

	assert_non_null(strstr(clear, "; 1 child process is not traced (another run with -f); "
				      "kernel memory is not traced (another run with -K)\n"));
	report.untraced = (struct untraced_growths){.items = &growth, .cnt = 1};
	grows = verdict_of(&report, false);
	assert_non_null(strstr(grows, ": another run with -K --movable shows who allocates it\n"));
}

/* An all-clear says how many sites of caches and tracers grow. */
static void caches_grow(void **state)
{
	const struct snapshot snap = {.stats[SPACE_KERNEL].known = true};
	struct report report = {
		.snapshot = &snap, .judged = 2, .sites_total = 5, .excluded_total = 2};
	cleanup_free char *text = verdict_of(&report, false);

	assert_non_null(strstr(text, "nothing seems to leak: only 2 sites of caches or tracing "
				     "grow steadily\n"));
}

/*
 * If most of RSS is memory that glibc keeps, the sentence says how much, even if this memory has
 * not grown. The sentence also says which part of resident memory has grown.
 */
static void kept_memory(void **state)
{
	static const struct rss rss = {.parts = {[RSS_LIVE] = 4 * MIB, [RSS_TOP] = 5 * MIB}};
	static const struct {
		struct rss first;
		const char *note;
	} scenes[] = {
		{.first = {.parts = {[RSS_LIVE] = 4 * MIB, [RSS_TOP] = 5 * MIB}}, "(-K)\n"},
		{.first = {.parts = {[RSS_LIVE] = MIB, [RSS_TOP] = 5 * MIB}},
		 "(-K); RSS has grown: memory in use in glibc's heap +3.0 MiB\n"},
		{.first = {.parts = {[RSS_LIVE] = 4 * MIB}},
		 "(-K); RSS has grown: free memory that glibc keeps +5.0 MiB\n"},
	};
	const struct snapshot snap = {0};
	struct report report = {
		.snapshot = &snap, .judged = 2, .sites_total = 2, .rss = &rss, .latest_rss = rss};

	for (size_t i = 0; i < LENGTH(scenes); i++) {
		report.first_rss = &scenes[i].first;
		cleanup_free char *text = verdict_of(&report, false);

		assert_non_null(strstr(text, "nothing seems to leak: glibc keeps 5.0 MiB that the "
					     "program has freed; none of the 2 sites grows"));
		assert_string_equal(strstr(text, "(-K)"), scenes[i].note);
	}
}

/*
 * If all sites that cannot be judged yet grow although they free many blocks, the line says so.
 * Otherwise the line says that another step of growth may come.
 */
static void pending_sites(void **state)
{
	static const char *const texts[] = {
		"not known yet whether 2 sites leak: the next step of growth may still come\n",
		"not known yet whether 2 sites leak: the next step of growth may still come\n",
		("not known yet whether 2 sites leak: they grow, although many of their blocks are "
		 "freed\n"),
	};

	for (size_t i = 0; i < 3; i++) {
		const struct snapshot snap = {0};
		const struct report report = {.snapshot = &snap, .pending = 2, .pending_freed = i};
		cleanup_free char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		verdict_write_pending(
			&(struct text_part){out, &report, "", false, LOOK_BCC, NULL, false});
		fclose(out);
		assert_string_equal(strchr(text, ' ') + 1, texts[i]);
	}
}

/* If child processes are not traced, an all-clear says how many. */
static void children_are_not_traced(void **state)
{
	static const char *const notes[] = {
		"; kernel memory",
		"; 1 child process is not traced (-f); kernel memory",
		"; 2 child processes are not traced (-f); kernel memory",
	};
	struct process_tally tally = {.footprint.is_known = true};
	struct snapshot snap = {.tallies = &tally, .tally_cnt = 1};
	const struct report report = {.snapshot = &snap, .judged = 2, .sites_total = 2};

	for (size_t i = 0; i < 3; i++) {
		tally.footprint.parts[FOOTPRINT_CHILDREN] = i;
		cleanup_free char *text = verdict_of(&report, false);

		assert_non_null(strstr(text, notes[i]));
		assert_int_equal(strstr(text, "(-f)") != NULL, i > 0);
	}
}

/* Orphans of the program are noted even with -f, which does not reach them. */
static void orphans(void **state)
{
	static const char *const notes[] = {
		"; kernel memory",
		("; 1 process of the same program whose parent has ended is not traced "
		 "(--comm worker or --cgroup); kernel memory"),
		("; 2 processes of the same program whose parents have ended are not traced "
		 "(--comm worker or --cgroup); kernel memory"),
	};
	struct process_tally tally = {
		.footprint = {.is_known = true, .has_traced_children = true, .orphan = "worker"}};
	struct snapshot snap = {.tallies = &tally, .tally_cnt = 1};
	const struct report report = {.snapshot = &snap, .judged = 2, .sites_total = 2};

	for (size_t i = 0; i < LENGTH(notes); i++) {
		tally.footprint.parts[FOOTPRINT_ORPHANS] = i;
		cleanup_free char *text = verdict_of(&report, false);

		assert_non_null(strstr(text, notes[i]));
		assert_int_equal(strstr(text, "worker") != NULL, i > 0);
	}
}

/* Other verdicts than an all-clear have a line about children and orphans that are not traced. */
static void line_about_processes(void **state)
{
	struct process_tally tally = {.footprint = {.is_known = true, .orphan = "worker"}};
	struct snapshot snap = {.tallies = &tally, .tally_cnt = 1};
	struct untraced_growth growth = {.part = FOOTPRINT_CHILDREN, .per_s = 1};
	struct report report = {.snapshot = &snap, .judged = 2, .sites_total = 2, .pending = 1};
	static const char *const lines[] = {
		"1 process of the same program whose parent has ended is not traced "
		"(--comm worker or --cgroup)\n",
		"1 child process is not traced (-f); 1 process of the same program",
	};

	for (size_t i = 0; i < 2; i++) {
		cleanup_free char *text = NULL;

		tally.footprint.parts[FOOTPRINT_ORPHANS] = 1;
		tally.footprint.parts[FOOTPRINT_CHILDREN] = i;
		text = verdict_of(&report, false);
		assert_non_null(strstr(text, lines[i]));
	}
	for (size_t i = 0; i < 2; i++) {
		cleanup_free char *text = NULL;

		tally.footprint.parts[FOOTPRINT_ORPHANS] = 0;
		tally.footprint.parts[FOOTPRINT_CHILDREN] = i;
		report.untraced = (struct untraced_growths){.items = &growth, .cnt = i};
		text = verdict_of(&report, false);
		assert_null(strstr(text, "not traced (-f)"));
	}
}

/*
 * The line on a part of the footprint names what shows more. For mappings and address space, it
 * also says what grows, and when the limit will be reached.
 */
static void growing_parts(void **state)
{
	static const struct process process = {.pid = 7};
	static const struct {
		struct footprint footprint;
		struct untraced_growth growth;
		const char *line;
	} scenes[] = {
		{{.parts[FOOTPRINT_MAPPINGS] = 2634,
		  .mappings_max = 65530,
		  .mapped = "index\t.dat"},
		 {&process, FOOTPRINT_MAPPINGS, .per_s = 200, .since_ns = 12000000000},
		 "the number of mappings grows 200/s for 12 s, mainly by mappings of "
		 "index\\x09.dat: "
		 "2634 now, and mmap fails at 65530, in 5 min; strace -k -e mmap,mprotect -p 7 "
		 "shows the calls\n"},
		{{.parts[FOOTPRINT_MAPPINGS] = 2634},
		 {&process, FOOTPRINT_MAPPINGS, .per_s = 2, .since_ns = 12000000000},
		 "the number of mappings grows 2.0/s for 12 s; strace"},
		{{.parts[FOOTPRINT_VIRTUAL] = 3ULL << 30, .virtual_max = 4ULL << 30},
		 {&process, FOOTPRINT_VIRTUAL, .per_s = 32 << 20, .since_ns = 12000000000},
		 "the address space grows 32.0 MiB/s for 12 s: 3.0 GiB now, and mmap fails at "
		 "4.0 GiB, in 32 s; strace"},
		{{.parts[FOOTPRINT_VIRTUAL] = 3ULL << 30, .virtual_max = 4ULL << 30},
		 {&process, FOOTPRINT_VIRTUAL, .per_s = 32 << 10, .since_ns = 12000000000},
		 ", in 9 h; strace"},
		{{0},
		 {&process, FOOTPRINT_SOCKETS, .per_s = 1024, .since_ns = 12000000000},
		 "the data that waits in sockets grows 1.0 KiB/s for 12 s and is not traced: "
		 "ss -tuxp shows the sockets\n"},
		{{.has_other_network = true},
		 {&process, FOOTPRINT_SOCKETS, .per_s = 1024, .since_ns = 12000000000},
		 ": nsenter -t 7 -n ss -tuxp shows the sockets\n"},
		{{0},
		 {&process, FOOTPRINT_TIMERS, .per_s = 3, .since_ns = 12000000000},
		 "the number of POSIX timers grows 3.0/s for 12 s: strace -k -e timer_create -p 7 "
		 "shows the calls\n"},
		{{0},
		 {&process, FOOTPRINT_QUEUES, .per_s = 3, .since_ns = 12000000000},
		 "the number of System V message queues grows 3.0/s for 12 s: ipcs -q -p lists "
		 "them\n"},
	};

	for (size_t i = 0; i < LENGTH(scenes); i++) {
		struct untraced_growth growth = scenes[i].growth;
		struct process_tally tally = {&process, .footprint = scenes[i].footprint};
		const struct snapshot snap = {.tallies = &tally, .tally_cnt = 1};
		const struct report report = {
			.snapshot = &snap, .judged = 2, .untraced = {.items = &growth, .cnt = 1}};
		cleanup_free char *text = verdict_of(&report, false);

		assert_non_null(strstr(text, scenes[i].line));
	}
}

/* An amount that would be rounded to 1024 is written in the next larger unit. */
static void amounts(void **state)
{
	static const struct {
		double bytes;
		const char *text;
	} expected[] = {
		{0.6, "1 byte"},        {1023.4, "1023 bytes"}, {1023.5, "1.0 KiB"},
		{102400, "100 KiB"},    {1048000, "1023 KiB"},  {1048570, "1.0 MiB"},
		{-1048570, "-1.0 MiB"}, {1e18, "909495 TiB"},
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		char text[AMOUNT_TEXT_SIZE];

		text_amount(expected[i].bytes, text);
		assert_string_equal(text, expected[i].text);
	}
}

/*
 * The line that sums up the sites without a name of their own comes first if together they grow
 * faster than the named ones. It recommends --why if the format supports it; with --why, it gives
 * the maximum number of sites if there are more.
 */
static void more_sites(void **state)
{
	const struct site site = {.kind = KIND_STACK};
	const struct site_history history = {.trend = {.tendency = TENDENCY_STEADY}};
	const struct report_site shown = {.site = &site, .history = &history};
	struct suspect suspect = {.site = &shown, .path_cnt = 1, .bytes_per_s = 700};
	struct suspect suspects[] = {suspect, suspect};
	const struct snapshot snap = {0};
	struct report report = {.snapshot = &snap, .suspects = suspects, .suspects_total = 391};
	static const struct {
		size_t cnt;
		double per_s;
		const char *sum, *more;
		bool can_list_all, why;
		size_t path_cnt;
	} known[] = {
		{1, 1 << 20, "likely: 1.0 MiB/s in 391 sites",
		 "390 small sites grow 1023 KiB/s together (--why lists them)\n", true, false, 6},
		{1, 1000, "likely: an unknown stack grows 700 bytes/s in thread stacks, steadily",
		 "390 more sites grow 300 bytes/s together (--why lists them)\n", true, false, 256},
		{1, 1000, "likely: an unknown stack grows 700 bytes/s in thread stacks, steadily",
		 "390 more sites grow 300 bytes/s together\n", false, false, 256},
		{1, 1000, "likely: an unknown stack grows 700 bytes/s in thread stacks, steadily",
		 "390 more sites grow 300 bytes/s together\n", true, true, 255},
		{1, 1000, "likely: an unknown stack grows 700 bytes/s in thread stacks, steadily",
		 "390 more sites grow 300 bytes/s together (--why lists at most 256 sites)\n", true,
		 true, 256},
		{2, 2000, "likely: at least 1.4 KiB/s in 2 places",
		 "389 more sites grow 600 bytes/s together (--why lists them)\n", true, false, 6},
	};

	for (size_t i = 0; i < LENGTH(known); i++) {
		cleanup_free char *text = NULL;
		const char *expected = known[i].more;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		report.suspect_cnt = known[i].cnt;
		report.suspects_per_s = known[i].per_s;
		report.can_list_all = known[i].can_list_all;
		report.show_why = known[i].why;
		report.path_cnt = known[i].path_cnt;
		verdict_write_text(
			&(struct text_part){out, &report, "", false, LOOK_BCC, NULL, false});
		verdict_write_sentence(
			&(struct text_part){out, &report, "", false, LOOK_PLAIN, NULL, false});
		fclose(out);
		assert_non_null(strstr(text, known[i].sum));
		assert_non_null(strstr(text, expected));
		assert_int_equal(strstr(text, expected) < strstr(text, "an unknown stack"), !i);
		assert_non_null(strstr(text, " grows 700 bytes/s in thread stacks, steadily"));
	}
}

/* For descriptors, the line does not recommend --why, which cannot be used with --fds. */
static void more_sites_of_descriptors(void **state)
{
	const struct site site = {.kind = KIND_DESCRIPTOR};
	const struct site_history history = {.trend = {.tendency = TENDENCY_STEADY}};
	const struct report_site shown = {.site = &site, .history = &history};
	struct suspect suspect = {.site = &shown, .path_cnt = 1, .bytes_per_s = 7};
	const struct snapshot snap = {.descriptors.are_traced = true};
	const struct report report = {.snapshot = &snap,
				      .suspects = &suspect,
				      .suspect_cnt = 1,
				      .suspects_total = 3,
				      .suspects_per_s = 9,
				      .can_list_all = true};
	cleanup_free char *text = verdict_of(&report, false);

	assert_non_null(strstr(text, "2 more sites "));
	assert_null(strstr(text, "--why"));
}

/*
 * If there is one suspect, the sentence of the verdict names it. bcc's format has no sentence.
 * Details are left out of a sentence that would be too long. If the process has ended, the memory
 * may have been in use until then.
 */
static void one_culprit(void **state)
{
	static const struct sym_frame frame = {
		.symbol = "remember_session", .file = "/srv/a/server.c", .line = 12};
	static const struct sym_location location = {
		.module = "/srv/app", .frame_cnt = 1, .frames = &frame};
	static const struct sym_location *locations[] = {&location};
	static const uint64_t frames[] = {1};
	static const struct process process = {.pid = 4711, .comm = "server"};
	const struct site site = {.frames = frames, .frame_cnt = 1, .process = &process};
	const struct site_history history = {.trend = {.tendency = TENDENCY_STEADY}};
	const struct report_site shown = {
		.site = &site, .history = &history, .locations = locations};
	struct suspect suspect = {.site = &shown, .path_cnt = 1, .bytes_per_s = 700, .seen = 9};
	struct process_tally tally = {.process = &process};
	const struct snapshot snap = {.tallies = &tally, .tally_cnt = 1};
	const struct report report = {
		.snapshot = &snap, .suspects = &suspect, .suspect_cnt = 1, .suspects_total = 1};

	for (size_t i = 0; i < 4; i++) {
		enum text_look look = i == 2 ? LOOK_BCC : LOOK_PLAIN;
		cleanup_free char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		tally.ended_here = i == 3;
		verdict_write_text(
			&(struct text_part){out, &report, "", i == 1, look, NULL, false});
		fclose(out);
		assert_ptr_equal(strchr(text, '\n'), text + len - 1);
		assert_non_null(strstr(text, "remember_session a/server.c:12"));
		assert_int_equal(strstr(text, "a leak is likely: remember") != NULL, i < 2);
		assert_int_equal(
			strstr(text, "memory leaked or was still in use at the end: remember") !=
				NULL,
			i == 3);
		assert_int_equal(strstr(text, "none of 9 blocks freed") != NULL, i % 2 == 0);
		assert_in_range(len, 1, strlen("\u25b2 \n") + 120);
	}
}

/*
 * A suspect that stands for instances of a template is named without template arguments, and so is
 * its caller. If the instances have different callers, no caller is named.
 */
static void instances(void **state)
{
	static const struct sym_frame functions[] = {
		{.symbol = "Handler<54>::remember", .file = "/srv/app.cc", .line = 12},
		{.symbol = "handle<54>", .file = "/srv/app.cc", .line = 19}};
	static const struct sym_location known[] = {
		{.module = "/srv/app", .frame_cnt = 1, .frames = &functions[0]},
		{.module = "/srv/app", .frame_cnt = 1, .frames = &functions[1]}};
	static const struct sym_location *locations[] = {&known[0], &known[1]};
	static const uint64_t frames[] = {1, 2};
	static const char *const expected[] = {
		"Handler<54>::remember srv/app.cc:12, called by handle<54>, grows",
		"Handler<...>::remember srv/app.cc:12, called by handle<...>, grows",
		"Handler<...>::remember srv/app.cc:12 grows"};
	const struct site site = {.frames = frames, .frame_cnt = 2};
	const struct site_history history = {.trend = {.tendency = TENDENCY_STEADY}};
	const struct report_site shown = {
		.site = &site, .history = &history, .locations = locations};
	const struct snapshot snap = {0};
	const struct report report = {.snapshot = &snap};

	for (size_t i = 0; i < LENGTH(expected); i++) {
		const struct suspect suspect = {.site = &shown,
						.path_cnt = 60,
						.has_instances = i,
						.has_other_callers = i == 2,
						.bytes_per_s = 700};
		const struct proven_loss loss = {
			.site = &shown, .path_cnt = 60, .has_instances = i, .lost = {9, 9}};
		const struct text_part part = {NULL, &report, "", false, LOOK_BCC, NULL, false};
		cleanup_free char *grows = verdict_suspect_line(&part, &suspect, 0);
		cleanup_free char *lost = verdict_loss_line(&part, &loss, 0);

		assert_non_null(strstr(grows, expected[i]));
		assert_non_null(strstr(lost, i ? "Handler<...>::remember srv/app.cc:12"
					       : "Handler<54>::remember srv/app.cc:12"));
	}
}

static const struct python_growth growing_list = {
	.containers =
		{{PYTHON_VARIABLE, "app.kept", "list", 900, 600, 30000000000, 7, 0, {.line = 0}}},
	.container_cnt = 1};
static const struct python_growth growing_class = {
	.classes = {{"Node", 400, 300, 300 * 48, 30000000000, {"Node.__init__", "/srv/app.py", 5}}},
	.class_cnt = 1};

/*
 * For a growing pool, the verdict names the container or class that grows, if known, or else the
 * script's line at which the pool grew in most of its steps.
 */
static void steps_of_a_script(void **state)
{
	static const char *const notes[] = {
		("; most steps of 1 MiB were taken at keep srv/app.py:12, which may not be the "
		 "line that leaks (PYTHONMALLOC=malloc shows more)\n"),
		"; meanwhile app.kept (list) grows by 20 items/s\n",
		"; meanwhile keep srv/app.py:12 adds 20 items/s to app.kept (list)\n",
		"; meanwhile Node objects grow by 10/s (Node.__init__ srv/app.py:5)\n",
		("; meanwhile app.kept (list) grows by 20 items/s, and Node objects by 10/s "
		 "(Node.__init__ srv/app.py:5)\n"),
	};
	struct python_growth both = growing_class;
	const struct python_growth *const growths[] = {NULL, &growing_list, &growing_list,
						       &growing_class, &both};
	static const struct runtime_objects objects = {.runtime = "python",
						       .words = "python objects"};
	static const struct sym_frame frame = {
		.symbol = "py::keep:/srv/app.py", .file = "/srv/app.py", .line = 12};
	static const struct sym_location script = {
		.module = SYM_SCRIPT, .frame_cnt = 1, .frames = &frame};
	static const struct sym_location *locations[] = {&script};
	static const struct process process = {1, 1, "one", NULL};
	static const uint64_t frames[] = {1};
	const struct site site = {
		.id = 7, .process = &process, .kind = KIND_MMAP, .frames = frames, .frame_cnt = 1};
	const struct site_history history = {.trend = {.tendency = TENDENCY_STEADY}};
	const struct report_site shown = {
		.site = &site, .history = &history, .objects = &objects, .locations = locations};
	const struct suspect suspect = {.site = &shown,
					.path_cnt = 1,
					.bytes_per_s = 700,
					.since_ns = 60000000000,
					.in_pools = true};
	struct snapshot snap = {0};
	struct report report = {.snapshot = &snap,
				.keepers = &shown,
				.suspects = (struct suspect *)&suspect,
				.suspect_cnt = 1,
				.suspects_total = 1};

	both.containers[0] = growing_list.containers[0];
	both.container_cnt = 1;
	for (size_t i = 0; i < 5; i++) {
		snap.python = growths[i];
		report.keeper_cnt = i == 2;
		cleanup_free char *text = verdict_of(&report, false);

		assert_non_null(strstr(text, "python objects grow 700 bytes/s"));
		assert_non_null(strstr(text, notes[i]));
		assert_null(strstr(text, notes[(i + 1) % 5]));
	}
}

/*
 * If CPython may have reused a suspect's blocks for the items of a container, the line names the
 * container.
 */
static void reused_blocks(void **state)
{
	static const char *const expected[] = {
		"parse srv/app.py:5 grows 700 bytes/s, steadily for 60 s; none of 9 blocks freed",
		("parse srv/app.py:5 grows 700 bytes/s, steadily for 60 s; "
		 "meanwhile app.kept (list) grows by 20 items/s")};
	static const struct sym_frame frame = {
		.symbol = "py::parse:/srv/app.py", .file = "/srv/app.py", .line = 5};
	static const struct sym_location script = {
		.module = SYM_SCRIPT, .frame_cnt = 1, .frames = &frame};
	static const struct sym_location *locations[] = {&script};
	static const uint64_t frames[] = {1};
	const struct site site = {.frames = frames, .frame_cnt = 1};
	const struct site_history history = {.trend = {.tendency = TENDENCY_STEADY}};
	const struct report_site shown = {
		.site = &site, .history = &history, .locations = locations};
	struct python_growth growth = growing_list;
	const struct snapshot snap = {.python = &growth};
	const struct report report = {.snapshot = &snap};
	const struct text_part part = {NULL, &report, "", false, LOOK_BCC, NULL, false};

	for (size_t i = 0; i < LENGTH(expected); i++) {
		const struct suspect suspect = {.site = &shown,
						.path_cnt = 1,
						.bytes_per_s = 700,
						.seen = 9,
						.since_ns = 60000000000,
						.may_be_reused = i};
		cleanup_free char *line = verdict_suspect_line(&part, &suspect, 0);

		assert_string_equal(strstr(line, "parse"), expected[i]);
	}
}

/* There is no all-clear while all processes are stopped. */
static void stopped_processes(void **state)
{
	static const char *const words[] = {"nothing seems to leak", "nothing seems to leak",
					    "the traced processes are stopped"};
	struct process_tally tallies[2] = {{.footprint.is_known = true},
					   {.footprint.is_known = true}};
	const struct snapshot snap = {.tallies = tallies, .tally_cnt = 2};
	const struct report report = {.snapshot = &snap, .judged = 2, .sites_total = 2};

	for (size_t i = 0; i < 3; i++) {
		tallies[0].footprint.is_stopped = i > 0;
		tallies[1].footprint.is_stopped = i > 1;
		cleanup_free char *text = verdict_of(&report, false);

		assert_non_null(strstr(text, words[i]));
	}
}

/*
 * Growth of a runtime's objects is not judged if it is brief or slight, or if the process may still
 * be starting. The line says why, and there is no all-clear.
 */
static void settling(void **state)
{
	static const struct runtime_objects objects = {.words = "python objects"};
	static const char *const expected[] = {
		"not known yet whether python objects grow: they have grown for only 9 s\n",
		("not known yet whether python objects grow: the process may still be "
		 "starting\n"),
		"not known yet whether python objects grow: they have grown by only 960 bytes\n"};
	const struct snapshot snap = {0};
	struct site_history history = {0};
	static const struct site site;
	const struct report_site path = {.site = &site, .history = &history, .objects = &objects};
	const struct report report = {.snapshot = &snap,
				      .bytes = 1 << 20,
				      .judged = 2,
				      .sites_total = 2,
				      .settling = &path};

	for (size_t i = 0; i < LENGTH(expected); i++) {
		history.trend.since_ns = i ? 10000000000 : 9900000000;
		history.trend.bytes_per_s = i == 2 ? 96 : 200;
		cleanup_free char *text = verdict_of(&report, false);

		assert_string_equal(strchr(text, ' ') + 1, expected[i]);
	}
}

/*
 * If the site in `settling` is only a part of a pool that cannot be judged, the line is about the
 * steps of the pool. If it is the whole pool, the line says for how long the pool has grown.
 */
static void part_of_pool(void **state)
{
	static const struct runtime_objects objects = {.words = "JavaScript objects"};
	static const struct pool pool = {.objects = &objects, .step_bytes = 1 << 20};
	static const struct site part;
	const struct snapshot snap = {0};
	struct site_history history = {.trend = {.since_ns = 9000000000, .bytes_per_s = 100}};
	struct report_site path = {.site = &part, .history = &history, .objects = &objects};
	const struct report report = {.snapshot = &snap,
				      .bytes = 1 << 20,
				      .judged = 2,
				      .sites_total = 2,
				      .unclear = &pool,
				      .settling = &path};

	(void)state;
	for (int is_pool = 0; is_pool < 2; is_pool++) {
		path.site = is_pool ? &pool.sum : &part;
		cleanup_free char *text = verdict_of(&report, false);

		assert_string_equal(strchr(text, ' ') + 1,
				    is_pool ? "not known yet whether JavaScript objects grow: "
					      "they have grown for only 9 s\n"
					    : "not known yet whether JavaScript objects grow: "
					      "they have taken memory in steps of 1.0 MiB\n");
	}
}

/*
 * If most memory in the pools of Python is free, the line about their steps says so, instead of how
 * to see which objects grow.
 */
static void pool_is_mostly_free(void **state)
{
	static const struct runtime_objects objects = {
		.runtime = "python", .words = "python objects", .advice = "to see which: ask"};
	static const struct pool pool = {
		.sum.bytes = 10 * MIB, .objects = &objects, .step_bytes = 1 << 20};
	static const struct process process = {.pid = 7};
	struct process_tally tallies[] = {{.process = &process, .footprint.is_known = true},
					  {.process = &process, .footprint.is_known = true}};
	struct snapshot snap = {.tallies = tallies, .tally_cnt = 1};
	struct report report = {.snapshot = &snap, .judged = 2, .sites_total = 2, .unclear = &pool};

	(void)state;
	for (int i = 0; i < 3; i++) {
		report.latest_rss.parts[RSS_PYTHON] = i == 1 ? 4 * MIB : 5 * MIB;
		snap.tally_cnt = i == 2 ? 2 : 1;
		cleanup_free char *text = verdict_of(&report, false);

		assert_non_null(strstr(text, i ? "in steps of 1.0 MiB; to see which: ask\n"
					       : "in steps of 1.0 MiB, but 5.0 MiB in python's "
						 "pools is free\n"));
	}
}

/*
 * If not all growth can be judged, the report recommends a longer run, unless a note recommends an
 * option. The report also has the advice of the language runtime.
 */
static void next_step(void **state)
{
	static const struct runtime_objects objects = {.words = "JavaScript objects",
						       .advice = "to see which: ask node"};
	static const struct pool pool = {.objects = &objects, .step_bytes = 1 << 20};
	static const struct process process = {.pid = 7, .comm = (char *)"srv"};
	const struct snapshot snap = {0};

	for (int i = 0; i < 3; i++) {
		bool has_option = i == 1;
		const struct report report = {
			.snapshot = &snap,
			.judged = 2,
			.sites_total = 2,
			.unclear = &pool,
			.untraced.too_young.process = i ? &process : NULL,
			.any_age = i == 2,
		};
		cleanup_free char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		verdict_write_text(
			&(struct text_part){out, &report, "", false, LOOK_PLAIN, NULL, false});
		fclose(out);
		assert_int_equal(strstr(text, "growth can be judged: trace for longer\n") != NULL,
				 !has_option);
		assert_non_null(strstr(text, "in steps of 1.0 MiB; to see which: ask node\n"));
		assert_int_equal(strstr(text, ": -o 0 shows it\n") != NULL, has_option);
	}
}

static char *sentence_of(const struct report *report)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	verdict_write_sentence(
		&(struct text_part){out, report, "", false, LOOK_PLAIN, NULL, false});
	fclose(out);
	return text;
}

/* If no growth can be judged, but a container of a Python program grows, the sentence names it. */
static void python_grows(void **state)
{
	const struct python_growth python = {
		.containers = {{.name = "app.kept",
				.class = "list",
				.named_by = PYTHON_VARIABLE,
				.more = 600,
				.items = 900,
				.for_ns = 30 * UINT64_C(1000000000),
				.adder = {"keep", "/srv/app.py", 12}}},
		.container_cnt = 1,
	};
	const struct snapshot snap = {.python = &python};
	const struct report report = {.snapshot = &snap, .judged = 2, .undecided = 1};
	cleanup_free char *text = sentence_of(&report);

	(void)state;
	assert_string_equal(text, "? no leak found yet, but keep srv/app.py:12 adds 20 items/s to "
				  "app.kept (list): trace for longer");
}

/* A longer run is not recommended for a core dump, nor if all processes have ended. */
static void no_longer_run(void **state)
{
	static const struct core_facts core = {.pid = 7};
	static const struct proof_facts proof = {.method = PROOF_ENDED};
	static const struct process first = {.pid = 7}, second = {.pid = 8};
	struct process_tally tallies[] = {{.process = &first, .ended_here = true},
					  {.process = &second}};
	struct snapshot snap = {.tallies = tallies, .tally_cnt = 2};
	struct report report = {.snapshot = &snap, .judged = 2, .undecided = 1};
	char *text = sentence_of(&report);

	(void)state;
	assert_string_equal(
		text, "? no leak found yet, but not all growth can be judged: trace for longer");
	free(text);
	tallies[1].ended_here = true;
	text = sentence_of(&report);
	assert_string_equal(text, "? no leak found, but not all growth can be judged");
	free(text);
	tallies[1].ended_here = false;
	snap.proof = &proof;
	text = sentence_of(&report);
	assert_string_equal(
		text, "? no leak found yet, but not all growth can be judged: trace for longer");
	free(text);
	report.final = true;
	text = sentence_of(&report);
	assert_string_equal(text, "? no leak found, but not all growth can be judged");
	free(text);
	snap = (struct snapshot){.core = &core};
	text = sentence_of(&report);
	assert_string_equal(text,
			    "? no leak found, but a core dump does not show whether memory grows");
	free(text);
}

/* If several processes are traced, the line about a runtime's objects names the process. */
static void objects_of_process(void **state)
{
	static const struct runtime_objects objects = {.words = "python objects"};
	static const struct process process = {.pid = 7, .comm = (char *)"srv"};
	const struct pool pool = {
		.objects = &objects, .sum.process = &process, .step_bytes = 1 << 20};
	const struct snapshot snap = {0};
	const struct site_history history = {.trend = {.since_ns = 9000000000}};
	const struct report_site path = {
		.site = &pool.sum, .history = &history, .objects = &objects};

	for (int is_unclear = 0; is_unclear < 2; is_unclear++) {
		const struct report report = {.snapshot = &snap,
					      .judged = 2,
					      .sites_total = 2,
					      .unclear = is_unclear ? &pool : NULL,
					      .settling = is_unclear ? NULL : &path};
		cleanup_free char *text = verdict_of(&report, true);

		assert_string_equal(strchr(text, ' ') + 1,
				    is_unclear ? "not known yet whether python objects of process "
						 "7 (srv) grow: they have taken memory in steps of "
						 "1.0 MiB\n"
					       : "not known yet whether python objects of process "
						 "7 (srv) grow: they have grown for only 9 s\n");
	}
}

/* There is no all-clear while another step of growth may come. */
static void pending(void **state)
{
	const struct snapshot snap = {0};
	struct report report = {.snapshot = &snap, .judged = 2, .sites_total = 2};

	for (size_t cnt = 0; cnt < 3; cnt++) {
		report.pending = cnt;
		cleanup_free char *text = verdict_of(&report, false);

		assert_int_equal(strstr(text, "nothing seems to leak") != NULL, !cnt);
		assert_int_equal(strstr(text, "not known yet whether 1 site leaks") != NULL,
				 cnt == 1);
		assert_int_equal(strstr(text, "not known yet whether 2 sites leak") != NULL,
				 cnt == 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(callers),
		cmocka_unit_test(chunk_pool),
		cmocka_unit_test(unknown_pool),
		cmocka_unit_test(part_of_a_pool),
		cmocka_unit_test(lineless_advice),
		cmocka_unit_test(settling),
		cmocka_unit_test(part_of_pool),
		cmocka_unit_test(pool_is_mostly_free),
		cmocka_unit_test(next_step),
		cmocka_unit_test(no_longer_run),
		cmocka_unit_test(python_grows),
		cmocka_unit_test(slows),
		cmocka_unit_test(objects_of_process),
		cmocka_unit_test(pending),
		cmocka_unit_test(amounts),
		cmocka_unit_test(more_sites),
		cmocka_unit_test(more_sites_of_descriptors),
		cmocka_unit_test(one_culprit),
		cmocka_unit_test(instances),
		cmocka_unit_test(kernel_is_not_traced),
		cmocka_unit_test(another_run),
		cmocka_unit_test(caches_grow),
		cmocka_unit_test(children_are_not_traced),
		cmocka_unit_test(kept_memory),
		cmocka_unit_test(stopped_processes),
		cmocka_unit_test(pending_sites),
		cmocka_unit_test(explained),
		cmocka_unit_test(block_too_young),
		cmocka_unit_test(orphans),
		cmocka_unit_test(line_about_processes),
		cmocka_unit_test(cause_of_growth),
		cmocka_unit_test(growing_parts),
		cmocka_unit_test(pending_growth),
		cmocka_unit_test(steps_of_a_script),
		cmocka_unit_test(reused_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
