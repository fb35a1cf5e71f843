// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests finding leaks that are spread over many stacks: a function is blamed by the sum over its
 * stacks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/callers.h"
#include "report/report.h"
#include "tests/unit/lib/fake_symbols.h"

#define REPORTS 24
#define PER_REPORT 20
#define SITES 2048
#define INTERVAL_NS 2000000000ULL
#define FRAMES 4

/*
 * Addresses of the functions. RULES and each name after it is the address of the first of several
 * functions.
 */
enum {
	AUDIT = 1,
	TAKE,
	LEAK,
	OTHER,
	MAIN,
	XMALLOC,
	OBSTACK,
	OPENDIR,
	RULES = 100,
	DAEMON = 90, /* main() of another program */
	HANDLERS = 200,
	LAMBDAS = 300,
	COPIES = 700,
	LEAVES = 1000,
	INNER = 2000,
	OUTER = 9000,
};

/* Functions from address RULES on */
#define RULE_CNT 10
/* Functions from address HANDLERS on */
#define HANDLER_CNT 48
/* Calls from address LAMBDAS on: LAMBDA_CALLS in each of HANDLER_CNT instances of a lambda */
#define LAMBDA_CALLS 6
#define LAMBDA_CNT (HANDLER_CNT * LAMBDA_CALLS)
/* Calls from address COPIES on: one in each copy of a library */
#define COPY_CNT 12

static struct process process = {1, 1, "app", NULL};

#define FUNCTION(at, name) IN_FILE("/srv/app", at, name)
#define IN_FILE(file, at, name)                                                                    \
	{                                                                                          \
		.addr = (at), .module = (file), .frame_cnt = 1,                                    \
		.frames = &(const struct sym_frame)                                                \
		{                                                                                  \
			.symbol = (name), .offset = (at)                                           \
		}                                                                                  \
	}

/* The functions from LEAVES, INNER and OUTER on have no names, so they cannot be blamed. */
static const struct sym_location fixed[] = {
	FUNCTION(AUDIT, "audit"),
	FUNCTION(TAKE, "take"),
	FUNCTION(LEAK, "leak"),
	FUNCTION(OTHER, "other"),
	FUNCTION(MAIN, "main"),
	IN_FILE("/srv/daemon", DAEMON, "main"),
	FUNCTION(XMALLOC, "xmalloc"),
	IN_FILE("/lib/libc.so.6", OBSTACK, "_obstack_newchunk"),
	IN_FILE("/lib/libc.so.6", OPENDIR, "opendir"),
	FUNCTION(RULES, "rule"),
	FUNCTION(RULES + 1, "rule"),
	FUNCTION(RULES + 2, "rule"),
	FUNCTION(RULES + 3, "rule"),
	FUNCTION(RULES + 4, "rule"),
	FUNCTION(RULES + 5, "rule"),
	FUNCTION(RULES + 6, "rule"),
	FUNCTION(RULES + 7, "rule"),
	FUNCTION(RULES + 8, "rule"),
	FUNCTION(RULES + 9, "rule"),
};

#define FIXED_CNT (sizeof(fixed) / sizeof(fixed[0]))

static struct sym_location locations[FIXED_CNT + HANDLER_CNT + LAMBDA_CNT + COPY_CNT];
/* For each handler, the function get(), which may be inlined into the handler, and the handler */
static struct sym_frame handlers[HANDLER_CNT][2];
static struct sym_frame lambdas[HANDLER_CNT];
static struct sym_frame plugin;

/*
 * Names the handlers. are_instances: as instances of one template. file: their source file, or
 * NULL.
 */
static void name_handlers(bool are_instances, const char *file)
{
	static char names[HANDLER_CNT][16];

	for (size_t i = 0; i < HANDLER_CNT; i++) {
		snprintf(names[i], sizeof(names[i]), are_instances ? "handler<%zu>" : "handler_%zu",
			 i);
		handlers[i][0] = (struct sym_frame){.symbol = "get", .file = file};
		handlers[i][1] = (struct sym_frame){.symbol = names[i], .file = file};
	}
}

/* Sets whether get() is inlined into the handlers. */
static void inline_get(bool is_inlined)
{
	for (size_t i = 0; i < HANDLER_CNT; i++) {
		locations[FIXED_CNT + i].frames = &handlers[i][!is_inlined];
		locations[FIXED_CNT + i].frame_cnt = 1 + is_inlined;
	}
}

static void name_lambdas(void)
{
	static char names[HANDLER_CNT][96];

	for (size_t i = 0; i < HANDLER_CNT; i++) {
		snprintf(names[i], sizeof(names[i]),
			 "auto Module<%zu>::subscribe()::{lambda(auto:1 const&)#1}::"
			 "operator()<Event>(Event const&) const",
			 i);
		lambdas[i] = (struct sym_frame){.symbol = names[i], .file = "bus.cpp"};
	}
	for (size_t i = 0; i < LAMBDA_CNT; i++)
		locations[FIXED_CNT + HANDLER_CNT + i] = (struct sym_location){
			.addr = LAMBDAS + i,
			.module = "/srv/app",
			.frame_cnt = 1,
			.frames = &lambdas[i / LAMBDA_CALLS],
		};
}

/* file: the source file of the copies, or NULL. build_id: their common build id, or NULL. */
static void name_copies(const char *file, const char *build_id)
{
	static char paths[COPY_CNT][16];

	plugin = (struct sym_frame){.symbol = "plugin_leak", .offset = 8, .file = file};
	for (size_t i = 0; i < COPY_CNT; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/tmp/%zu.so", i);
		locations[FIXED_CNT + HANDLER_CNT + LAMBDA_CNT + i] = (struct sym_location){
			.addr = COPIES + i,
			.module = paths[i],
			.build_id = build_id,
			.frame_cnt = 1,
			.frames = &plugin,
		};
	}
}

static int name_functions(void **state)
{
	memcpy(locations, fixed, sizeof(fixed));
	name_handlers(false, NULL);
	for (size_t i = 0; i < HANDLER_CNT; i++)
		locations[FIXED_CNT + i] = (struct sym_location){
			.addr = HANDLERS + i,
			.module = "/srv/app",
		};
	inline_get(false);
	name_lambdas();
	name_copies(NULL, NULL);
	return 0;
}

struct made {
	struct site sites[SITES];
	uint64_t frames[SITES][FRAMES];
	uint64_t born[SITES]; /* number of the first report that has the site */
	size_t cnt;
	bool has_several_leaks;
	double whole_per_s;      /* their growth together; 0: any */
	const char *among;       /* one of the functions blamed for several leaks; NULL: any */
	const char *innocent;    /* a function that must not be among them; NULL: any may be */
	bool are_instances;      /* true if the blamed functions are instances of a template */
	enum pool_function pool; /* expected value */
	bool is_called;          /* true if common_callers is to be checked */
	enum common_callers common_callers;
};

/* Adds a stack with `blocks` blocks of `size` bytes, which exist from report number `born` on. */
static void add(struct made *made, uint64_t born, uint64_t blocks, uint64_t size,
		uint64_t innermost, uint64_t next, uint64_t outer)
{
	const uint64_t frames[FRAMES] = {innermost, next, outer, MAIN};
	size_t i = made->cnt++;

	assert_true(i < SITES);
	memcpy(made->frames[i], frames, sizeof(frames));
	made->born[i] = born;
	made->sites[i] = (struct site){.id = i + 1,
				       .process = &process,
				       .bytes = blocks * size,
				       .count = blocks,
				       .frames = made->frames[i],
				       .frame_cnt = FRAMES};
}

/*
 * Copies the sites that exist in report number `at` to `ret`. Returns their number. lifetime: the
 * number of reports in which each block exists.
 */
static size_t sites_at(const struct made *made, uint64_t at, uint64_t lifetime, struct site *ret)
{
	size_t cnt = 0;

	for (size_t i = 0; i < made->cnt; i++) {
		uint64_t age = at - made->born[i], age_ns = age * INTERVAL_NS + 1000000;
		struct site *site = &ret[cnt];

		if (made->born[i] > at || age >= lifetime)
			continue;
		*site = made->sites[i];
		site->oldest_ns = site->newest_ns = age_ns;
		site->ages.bytes[age_class(age_ns)] = site->bytes;
		site->ages.count[age_class(age_ns)] = (uint32_t)site->count;
		if (age)
			site->kept[age_class(age_ns - INTERVAL_NS)] = (uint32_t)site->count;
		cnt++;
	}
	return cnt;
}

static bool is_blamed(const struct report *report, const char *function)
{
	for (size_t i = 0; i < report->suspect_cnt; i++) {
		const struct report_site *shown = report->suspects[i].site;
		const struct sym_location *location = shown->locations[shown->blamed.frame];

		if (!strcmp(location->frames[shown->blamed.function].symbol, function))
			return true;
	}
	return false;
}

static void check_whole(const struct report *report, double bytes_per_s)
{
	double sum = 0;

	for (size_t i = 0; i < report->suspect_cnt; i++)
		sum += report->suspects[i].bytes_per_s;
	assert_true(sum > 0.9 * bytes_per_s);
	assert_true(sum < 1.1 * bytes_per_s);
	assert_true(report->suspects_per_s > 0.9 * bytes_per_s);
	assert_true(report->suspects_per_s < 1.1 * bytes_per_s);
}

static void check_report(const struct made *made, const struct snapshot *snap,
			 const struct growth *growth, const struct callers *callers,
			 const char *function, size_t paths, size_t pool_callers,
			 double bytes_per_s)
{
	struct fake_symbols symbols =
		fake_symbols_of(locations, sizeof(locations) / sizeof(locations[0]));
	const struct sums sums = {.callers = callers};
	struct options opts = {.top = 10};
	const struct sym_location *blamed;
	struct report report;

	assert_int_equal(report_init_groups(&opts, snap, growth, NULL, NULL, &sums,
					    &symbols.backend, UINT64_MAX, false, &report),
			 0);
	if (made->has_several_leaks) {
		assert_true(report.suspect_cnt > 1);
		assert_true(!made->among || is_blamed(&report, made->among));
		assert_false(made->innocent && is_blamed(&report, made->innocent));
		if (made->whole_per_s)
			check_whole(&report, made->whole_per_s);
		report_deinit(&report);
		return;
	}
	assert_int_equal(report.suspect_cnt, function ? 1 : 0);
	assert_int_equal(report.suspects_total, paths);
	if (function) {
		const struct report_site *shown = report.suspects[0].site;

		blamed = shown->locations[shown->blamed.frame];
		assert_string_equal(blamed->frames[shown->blamed.function].symbol, function);
		assert_int_equal(shown->chunks.function, made->pool);
		assert_int_equal(report.suspects[0].has_instances, made->are_instances);
		assert_int_equal(shown->chunks.callers, pool_callers);
		if (made->is_called)
			assert_int_equal(shown->common_callers, made->common_callers);
		assert_int_equal(report.suspects[0].path_cnt, paths);
		assert_true(report.suspects[0].bytes_per_s > 0.9 * bytes_per_s);
		assert_true(report.suspects[0].bytes_per_s < 1.1 * bytes_per_s);
	}
	report_deinit(&report);
}

/* Checks that the last report blames the function with this name, or no function if it is NULL. */
static void check_pool(const struct made *made, uint64_t lifetime, const char *function,
		       size_t paths, size_t pool_callers, double bytes_per_s)
{
	struct ranking *ranking, *caller_ranking;
	struct site *sites = calloc(SITES, sizeof(*sites));
	struct growth *growth = calloc(SITES, sizeof(*growth));
	struct callers callers;

	assert_non_null(sites);
	assert_non_null(growth);
	assert_int_equal(ranking__new(&ranking), 0);
	assert_int_equal(ranking__new(&caller_ranking), 0);
	for (uint64_t at = 1; at <= REPORTS; at++) {
		struct snapshot snap = {.elapsed_ns = at * INTERVAL_NS, .sites = sites};

		memset(sites, 0, SITES * sizeof(*sites));
		snap.site_cnt = sites_at(made, at, lifetime, sites);
		assert_int_equal(ranking__update(ranking, &snap, growth), 0);
		assert_int_equal(callers_init(&snap, NULL, &callers), 0);
		assert_int_equal(callers_rank(&callers, caller_ranking), 0);
		if (at == REPORTS)
			check_report(made, &snap, growth, &callers, function, paths, pool_callers,
				     bytes_per_s);
		callers_deinit(&callers);
	}
	ranking__free(ranking);
	ranking__free(caller_ranking);
	free(sites);
	free(growth);
}

static void check(const struct made *made, uint64_t lifetime, const char *function, size_t paths,
		  double bytes_per_s)
{
	check_pool(made, lifetime, function, paths, 0, bytes_per_s);
}

/*
 * Adds a block for each of many stacks. Their sizes vary, their innermost function is `innermost`,
 * and `callers` functions call it directly.
 */
static void add_paths(struct made *made, uint64_t innermost, size_t sizes, size_t callers)
{
	for (size_t i = 0; i < REPORTS * PER_REPORT; i++)
		add(made, 1 + i / PER_REPORT, 1, 100 + i % sizes, innermost, INNER + i % callers,
		    OUTER + i);
}

#define RATE(size) ((size)*PER_REPORT * 1e9 / INTERVAL_NS)

/* Stacks that appear in the last 60 % of the reports: see LATER_PART in callers.c. */
#define LATER ((size_t)(REPORTS * 0.6 + 1) * PER_REPORT)

static void one_block_each(void **state)
{
	struct made made = {.is_called = true, .common_callers = CALLERS_NONE};

	add_paths(&made, AUDIT, 1, 14);
	check(&made, REPORTS, "audit", LATER, RATE(100));
}

/* One caller of the blamed function is on most stacks. */
static void one_caller(void **state)
{
	struct made made = {.is_called = true, .common_callers = CALLERS_ONE};

	for (size_t i = 0; i < REPORTS * PER_REPORT; i++)
		add(&made, 1 + i / PER_REPORT, 1, 100, AUDIT, i % 3 ? INNER : INNER + i, OUTER + i);
	check(&made, REPORTS, "audit", LATER, RATE(100));
}

/* A stack must not be read beyond its end when it is compared with longer stacks. */
static void short_stack(void **state)
{
	struct made made = {0};
	uint64_t *frames = malloc(2 * sizeof(*frames));
	struct site *site;

	assert_non_null(frames);
	add_paths(&made, AUDIT, 1, 14);
	add(&made, 1, 1, 100, AUDIT, MAIN, 0);
	site = &made.sites[made.cnt - 1];
	memcpy(frames, site->frames, 2 * sizeof(*frames));
	site->frames = frames;
	site->frame_cnt = 2;
	check(&made, REPORTS, "audit", LATER, RATE(100));
	free(frames);
}

static void sizes_and_callers(void **state)
{
	for (size_t callers = 1; callers <= REPORTS * PER_REPORT; callers *= 7) {
		struct made made = {0};

		add_paths(&made, AUDIT, 11, callers);
		check(&made, REPORTS, "audit", LATER, RATE(105));
	}
}

/* No function is blamed if as many blocks are freed as allocated. */
static void level(void **state)
{
	struct made made = {0};

	add_paths(&made, AUDIT, 11, 14);
	check(&made, 3, NULL, 0, 0);
}

/* One caller of a wrapper leaks. Other callers of the wrapper have more memory, but do not grow. */
static void wrapper(void **state)
{
	static const uint64_t wrappers[] = {TAKE, XMALLOC};

	for (size_t i = 0; i < 2; i++) {
		struct made made = {0};

		for (size_t j = 0; j < 30; j++)
			add(&made, 1, 50, 1000 + 16 * j, wrappers[i], INNER + j, OTHER);
		add_paths(&made, wrappers[i], 11, 1);
		for (size_t j = 30; j < made.cnt; j++)
			made.frames[j][1] = LEAK;
		check(&made, REPORTS, "leak", LATER, RATE(105));
	}
}

/*
 * Each of many functions that call the allocator has too little memory to be judged, so their
 * common caller is blamed.
 */
static void shared_caller(void **state)
{
	struct made made = {0};

	for (size_t i = 0; i < REPORTS * PER_REPORT; i++)
		add(&made, 1 + i / PER_REPORT, 1, 100, LEAVES + i, LEAK, OTHER);
	check(&made, REPORTS, "leak", LATER, RATE(100));
}

/*
 * Many functions with one caller leak. If no function leaks more than a small part, the caller is
 * blamed for the whole leak. If one leaks much more than the others, there are several suspects.
 */
static void many_functions(void **state)
{
	for (size_t largest = 1; largest <= 10; largest += 9) {
		struct made made = {.has_several_leaks = largest > 1};

		for (size_t i = 0; i < REPORTS * HANDLER_CNT; i++)
			add(&made, 1 + i / HANDLER_CNT, i % HANDLER_CNT ? 1 : largest, 100,
			    HANDLERS + i % HANDLER_CNT, LEAK, OUTER + i);
		check(&made, REPORTS, "leak", (size_t)(REPORTS * 0.6 + 1) * HANDLER_CNT,
		      HANDLER_CNT * 100 * 1e9 / INTERVAL_NS);
	}
}

/*
 * If as few as five functions of one caller leak, the caller is blamed, even if it calls each of
 * them at another place.
 */
static void few_functions(void **state)
{
	for (size_t cnt = 4; cnt <= 5; cnt++)
		for (size_t places = 1; places <= cnt; places += cnt - 1) {
			struct made made = {.has_several_leaks = cnt < 5};

			for (size_t i = 0; i < REPORTS * cnt; i++)
				add(&made, 1 + i / cnt, 1, 100, HANDLERS + i % cnt,
				    places > 1 ? RULES + i % cnt : LEAK, OUTER + i);
			check(&made, REPORTS, places > 1 ? "rule" : "leak",
			      (size_t)(REPORTS * 0.6 + 1) * cnt,
			      (double)cnt * 100 * 1e9 / INTERVAL_NS);
		}
}

/*
 * Adds one block in each report for each of five functions below leak(). The first function has
 * `share` more, for each of which handler_`through` calls it.
 */
static void add_five(struct made *made, size_t share, size_t through)
{
	for (uint64_t at = 1; at <= REPORTS; at++) {
		for (size_t i = 0; i < 5; i++)
			add(made, at, 1, 100, HANDLERS + i, LEAK, OUTER + i);
		for (size_t i = 0; i < share; i++)
			add(made, at, 1, 100, HANDLERS, through + i, LEAK);
	}
}

#define FIVE_PATHS(share) ((size_t)(REPORTS * 0.6 + 1) * (5 + (share)))

/*
 * One of five leaking functions has most of the growth. If other leaking functions call it, their
 * common caller is blamed for the whole leak; otherwise, there are several suspects.
 */
static void called_by_others(void **state)
{
	static struct made helper, own = {.has_several_leaks = true, .innocent = "leak"};

	add_five(&helper, 3, HANDLERS + 1);
	check(&helper, REPORTS, "leak", FIVE_PATHS(3), 8 * 100 * 1e9 / INTERVAL_NS);
	add_five(&own, 3, INNER);
	check(&own, REPORTS, "", 0, 0);
}

/*
 * The common caller of five leaking functions also leaks without them, has a caller itself, and
 * rarely calls a sixth function.
 */
static void five_and_caller(void **state)
{
	struct made made = {0};

	for (uint64_t at = 1; at <= REPORTS; at++) {
		for (size_t i = 0; i < 5; i++)
			add(&made, at, 1, 100, HANDLERS + i, RULES + i, TAKE);
		add(&made, at, 1, 100, RULES + 5, TAKE, OTHER);
	}
	add(&made, REPORTS / 3, 1, 100, LEAVES, RULES + 6, TAKE);
	add(&made, REPORTS * 2 / 3, 1, 200, LEAVES, RULES + 6, TAKE);
	check(&made, REPORTS, "rule", FIVE_PATHS(1), 6 * 100 * 1e9 / INTERVAL_NS);
}

/* A function that holds as many other blocks as five leaks below it is not to blame for them. */
static void dispatcher(void **state)
{
	for (size_t others = 0; others <= 1; others++) {
		struct made made = {.has_several_leaks = others, .innocent = "leak"};

		add_five(&made, 0, 0);
		add(&made, 1, 5 * (others ? REPORTS : 1), 100, HANDLERS + 5, LEAK, OUTER);
		check(&made, REPORTS, "leak", FIVE_PATHS(0), 5 * 100 * 1e9 / INTERVAL_NS);
	}
}

/* Two leaks below one function, each on many paths, are two suspects. */
static void two_leaks(void **state)
{
	static struct made made = {
		.has_several_leaks = true, .among = "handler_1", .innocent = "leak"};

	for (size_t i = 0; i < REPORTS * PER_REPORT; i++)
		add(&made, 1 + i / PER_REPORT, 1, 100, HANDLERS + i % 2, INNER + i, LEAK);
	check(&made, REPORTS, "", 0, 0);
}

/* Five functions below one caller free their blocks. */
static void five_level(void **state)
{
	struct made made = {0};

	add_five(&made, 3, HANDLERS + 1);
	check(&made, 3, NULL, 0, 0);
}

/*
 * Many instances of a template leak: the template is blamed. If their source file is unknown, they
 * may not be instances of the same template, so their caller is blamed.
 */
static void instances(void **state)
{
	struct made made = {.are_instances = true};

	name_handlers(true, NULL);
	many_functions(state);
	name_handlers(true, "handler.h");
	for (size_t i = 0; i < REPORTS * HANDLER_CNT; i++)
		add(&made, 1 + i / HANDLER_CNT, 1, 100, HANDLERS + i % HANDLER_CNT, LEAK,
		    OUTER + i);
	check(&made, REPORTS, "handler<0>", (size_t)(REPORTS * 0.6 + 1) * HANDLER_CNT,
	      HANDLER_CNT * 100 * 1e9 / INTERVAL_NS);
	name_handlers(false, NULL);
}

/*
 * A function is called on many paths below two others, and one of these keeps its blocks: that one
 * is blamed. If both keep blocks, the function is.
 */
static void caller_keeps(void **state)
{
	for (size_t others = 0; others <= 1; others++) {
		struct made made = {0};

		for (size_t i = 0; i < 14; i++)
			add(&made, 1, 50, 100, AUDIT, INNER + i, OTHER);
		for (size_t i = 0; i < REPORTS * PER_REPORT; i++)
			add(&made, 1 + i / PER_REPORT, 1, 100, AUDIT, INNER + i % 14,
			    others && i % PER_REPORT < 4 ? OTHER : LEAK);
		check(&made, REPORTS, others ? "audit" : "leak", LATER, RATE(100));
	}
}

/* A caller keeps most of the blocks, but the others also keep many of theirs. */
static void others_keep_some(void **state)
{
	struct made made = {0};

	for (size_t i = 0; i < 14; i++)
		add(&made, 1, 4, 100, AUDIT, INNER + i, OTHER);
	for (size_t i = 0; i < REPORTS * PER_REPORT; i++)
		add(&made, 1 + i / PER_REPORT, 1, 100, AUDIT, INNER + i % 14,
		    i % PER_REPORT ? LEAK : OTHER);
	check(&made, REPORTS, "audit", LATER, RATE(100));
}

/* A function that calls itself does not keep more blocks for that. */
static void recursive_caller(void **state)
{
	struct made made = {0};

	for (size_t i = 0; i < 14; i++)
		add(&made, 1, 50, 100, AUDIT, INNER + i, OTHER);
	for (size_t i = 0; i < REPORTS * PER_REPORT; i++) {
		add(&made, 1 + i / PER_REPORT, 1, 100, AUDIT, INNER + i % 14,
		    i % PER_REPORT < 4 ? OTHER : RULES);
		if (i % PER_REPORT >= 4)
			made.frames[i + 14][3] = RULES + 1;
	}
	check(&made, REPORTS, "audit", LATER, RATE(100));
}

/*
 * A function keeps blocks of another one, but most of its growth is that of a third: it is not
 * blamed.
 */
static void caller_keeps_little(void **state)
{
	static struct made made = {.has_several_leaks = true, .among = "audit"};

	for (size_t i = 0; i < 14; i++)
		add(&made, 1, 50, 100, AUDIT, INNER + i, OTHER);
	for (size_t i = 0; i < REPORTS * PER_REPORT; i++) {
		add(&made, 1 + i / PER_REPORT, 1, 100, AUDIT, INNER + i % 14, LEAK);
		add(&made, 1 + i / PER_REPORT, 1, 400, TAKE, LEAK, OUTER + i % 14);
	}
	check(&made, REPORTS, "", 0, 0);
}

/* A function that keeps the blocks is named as the caller if it is the only one. */
static void only_caller_keeps(void **state)
{
	struct made made = {.is_called = true, .common_callers = CALLERS_ONE};

	for (size_t i = 0; i < 14; i++)
		add(&made, 1, 50, 100, AUDIT, OTHER, OUTER + i);
	for (size_t i = 0; i < REPORTS * PER_REPORT; i++)
		add(&made, 1 + i / PER_REPORT, 1, 100, AUDIT, LEAK, OUTER + i % 14);
	check(&made, REPORTS, "audit", LATER, RATE(100));
}

/* Callers of a leaking function grow as fast as it, but the function is blamed. */
static void callers_of_a_leak(void **state)
{
	struct made made = {0};

	for (size_t i = 0; i < REPORTS; i++)
		add(&made, 1 + i, 10, 100, AUDIT, LEAVES + i, OTHER);
	for (size_t i = 0; i < 40; i++)
		add(&made, 1, 10, 500 + i, OTHER, LEAVES + i, MAIN);
	check(&made, REPORTS, "audit", (size_t)(REPORTS * 0.6 + 1), RATE(50));
}

/*
 * Adds chunks of one size, allocated by the function `innermost`. Its RULE_CNT callers allocate in
 * turn. In each round, the first caller allocates of_first additional chunks.
 */
static void add_chunks(struct made *made, uint64_t innermost, uint64_t size, size_t of_first)
{
	for (size_t i = 0; i < REPORTS * PER_REPORT; i++) {
		size_t rule = i % (RULE_CNT + of_first);

		add(made, 1 + i / PER_REPORT, 1, size, innermost,
		    RULES + (rule < RULE_CNT ? rule : 0), OUTER + i % 7);
	}
}

#define CHUNK 4096

static void chunk_pool(void **state)
{
	static const uint64_t functions[] = {AUDIT, OBSTACK};
	static const char *const names[] = {"audit", "_obstack_newchunk"};

	for (size_t i = 0; i < 2; i++) {
		struct made made = {0};

		add_chunks(&made, functions[i], CHUNK, 0);
		check_pool(&made, REPORTS, names[i], LATER, RULE_CNT, RATE(CHUNK));
		check(&made, 3, NULL, 0, 0);
	}
}

static void chunk_pool_with_large_requests(void **state)
{
	struct made made = {0};

	add_chunks(&made, OBSTACK, CHUNK, 0);
	for (size_t i = 0; i < made.cnt; i += 31)
		made.sites[i].bytes = CHUNK + 500 + i;
	check_pool(&made, REPORTS, "_obstack_newchunk", LATER, RULE_CNT, RATE(CHUNK));
}

/*
 * Blocks that are not the chunks of a pool, but objects: the function that makes them, or its
 * caller, is blamed.
 */
static void no_chunk_pool(void **state)
{
	static struct made small, uneven, library, varied; /* too large for the stack */

	add_chunks(&small, TAKE, 500, 0);
	check(&small, REPORTS, "take", LATER, RATE(500));
	add_chunks(&uneven, TAKE, CHUNK, RULE_CNT);
	check(&uneven, REPORTS, "take", LATER, RATE(CHUNK));
	add_chunks(&library, OPENDIR, CHUNK, 0);
	check(&library, REPORTS, "rule", LATER, RATE(CHUNK));
	add_chunks(&varied, TAKE, CHUNK, 0);
	for (size_t i = 0; i < varied.cnt; i++)
		varied.sites[i].bytes += i % 3;
	check(&varied, REPORTS, "take", LATER, RATE(CHUNK));
}

/* One caller leaks. Other callers have more memory, but do not grow. */
static void leak_of_one_caller(void **state)
{
	struct made made = {0};

	for (size_t i = 0; i < 30; i++)
		add(&made, 1, 50, CHUNK, OBSTACK, INNER + i, OTHER);
	for (size_t i = 0; i < REPORTS * PER_REPORT; i++)
		add(&made, 1 + i / PER_REPORT, 1, CHUNK, OBSTACK, LEAK, OUTER + i % 7);
	check(&made, REPORTS, "leak", LATER, RATE(CHUNK));
}

/*
 * Adds blocks of one size that POOL_CALLERS handlers allocate in turn. The handlers share no frame
 * but main().
 */
#define POOL_CALLERS 6

static void add_handlers(struct made *made, size_t callers, uint64_t size)
{
	for (size_t i = 0; i < REPORTS * POOL_CALLERS; i++)
		add(made, 1 + i / POOL_CALLERS, 1, size, HANDLERS + i % callers, MAIN, MAIN);
}

#define POOL_PATHS ((size_t)(REPORTS * 0.6 + 1) * POOL_CALLERS)
#define POOL_RATE(size) ((size)*POOL_CALLERS * 1e9 / INTERVAL_NS)

/*
 * The function of a chunk pool is inlined into all its callers: it is blamed, not the caller that
 * grows most.
 */
static void inlined_pool(void **state)
{
	struct made made = {
		.pool = POOL_INLINED, .is_called = true, .common_callers = CALLERS_NONE};

	name_handlers(false, "pool.c");
	inline_get(true);
	add_handlers(&made, POOL_CALLERS, CHUNK);
	check_pool(&made, REPORTS, "get", POOL_PATHS, POOL_CALLERS, POOL_RATE(CHUNK));
	inline_get(false);
	name_handlers(false, NULL);
}

/* An inlined function has too few callers for a pool, or its blocks are small. */
static void inlined_function(void **state)
{
	static struct made few = {.is_called = true, .common_callers = CALLERS_NONE}, small;

	small.is_called = true;
	small.common_callers = CALLERS_NONE;
	name_handlers(false, "pool.c");
	inline_get(true);
	add_handlers(&few, POOL_CALLERS - 1, CHUNK);
	check(&few, REPORTS, "get", POOL_PATHS, POOL_RATE(CHUNK));
	add_handlers(&small, POOL_CALLERS, 100);
	check(&small, REPORTS, "get", POOL_PATHS, POOL_RATE(100));
	inline_get(false);
	name_handlers(false, NULL);
}

/* A function that leaks calls another one that leaks: no block counts for both. */
static void leak_inside(void **state)
{
	static struct made made = {
		.has_several_leaks = true, .among = "leak", .whole_per_s = RATE(100)};

	for (size_t i = 0; i < REPORTS * PER_REPORT; i++)
		add(&made, 1 + i / PER_REPORT, 1, 100, i % PER_REPORT < 8 ? LEAK : INNER + i % 3,
		    AUDIT, OUTER + i);
	check(&made, REPORTS, "", 0, 0);
}

/* Paths of a function in different programs are not joined: each program has its own leak. */
static void two_programs(void **state)
{
	static struct process other = {2, 2, "daemon", NULL};
	static struct made made = {.has_several_leaks = true};

	name_handlers(false, "pool.c");
	inline_get(true);
	add_handlers(&made, POOL_CALLERS, 100);
	for (size_t i = 0; i < made.cnt; i += 2) {
		made.sites[i].process = &other;
		made.frames[i][FRAMES - 1] = DAEMON;
	}
	check(&made, REPORTS, "", 0, 0);
	inline_get(false);
	name_handlers(false, NULL);
}

/*
 * Without debug information, functions that take chunks of one size are callers of one pool. They
 * are not if their source shows that no function is inlined there, or if their blocks differ in
 * size or kind.
 */
static void unknown_pool(void **state)
{
	static struct made made = {.pool = POOL_UNKNOWN}, known = {.has_several_leaks = true},
			   varied = {.has_several_leaks = true},
			   kinds = {.has_several_leaks = true};

	add_handlers(&made, POOL_CALLERS, CHUNK);
	check_pool(&made, REPORTS, "handler_0", POOL_PATHS, POOL_CALLERS, POOL_RATE(CHUNK));
	add_handlers(&varied, POOL_CALLERS, CHUNK);
	for (size_t i = 0; i < varied.cnt; i++)
		varied.sites[i].bytes += 8 * (i % POOL_CALLERS);
	check(&varied, REPORTS, "", 0, 0);
	add_handlers(&kinds, POOL_CALLERS, CHUNK);
	for (size_t i = 0; i < kinds.cnt; i += 2)
		kinds.sites[i].kind = KIND_MMAP;
	check(&kinds, REPORTS, "", 0, 0);
	name_handlers(false, "pool.c");
	add_handlers(&known, POOL_CALLERS, CHUNK);
	check(&known, REPORTS, "", 0, 0);
	name_handlers(false, NULL);
}

/*
 * Instances of a lambda leak through more calls than a report has paths: they are one suspect with
 * the whole rate.
 */
static void lambda(void **state)
{
	struct made made = {.are_instances = true};

	_Static_assert(LAMBDA_CNT > REPORT_PATHS_MAX, "the limit on paths must not matter");
	for (uint64_t at = 6; at <= REPORTS; at += 3)
		for (size_t i = 0; i < LAMBDA_CNT; i++)
			add(&made, at, 1, 100, LAMBDAS + i, MAIN, MAIN);
	check(&made, REPORTS, lambdas[0].symbol, 5UL * LAMBDA_CNT,
	      100 * LAMBDA_CNT / 3.0 * 1e9 / INTERVAL_NS);
}

/*
 * A plugin is copied and loaded again and again, and each copy leaks until the next one is loaded:
 * its function is blamed for the whole leak, not main(). Functions of one name in different
 * libraries are not copies.
 */
static void copies_in_turn(void **state)
{
	static struct made copies;

	for (size_t i = 0; i < REPORTS * PER_REPORT; i++)
		add(&copies, 1 + i / PER_REPORT, 1, 100,
		    COPIES + i * COPY_CNT / (REPORTS * PER_REPORT), INNER, OUTER + i % 7);
	name_copies("plugin.c", NULL);
	check(&copies, REPORTS, "plugin_leak", LATER, RATE(100));
	name_copies(NULL, "1234");
	check(&copies, REPORTS, "plugin_leak", LATER, RATE(100));
	name_copies(NULL, NULL);
	check(&copies, REPORTS, "main", LATER, RATE(100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_block_each),
		cmocka_unit_test(one_caller),
		cmocka_unit_test(short_stack),
		cmocka_unit_test(sizes_and_callers),
		cmocka_unit_test(level),
		cmocka_unit_test(wrapper),
		cmocka_unit_test(shared_caller),
		cmocka_unit_test(many_functions),
		cmocka_unit_test(few_functions),
		cmocka_unit_test(called_by_others),
		cmocka_unit_test(five_and_caller),
		cmocka_unit_test(dispatcher),
		cmocka_unit_test(two_leaks),
		cmocka_unit_test(five_level),
		cmocka_unit_test(instances),
		cmocka_unit_test(callers_of_a_leak),
		cmocka_unit_test(chunk_pool),
		cmocka_unit_test(chunk_pool_with_large_requests),
		cmocka_unit_test(no_chunk_pool),
		cmocka_unit_test(leak_of_one_caller),
		cmocka_unit_test(inlined_pool),
		cmocka_unit_test(inlined_function),
		cmocka_unit_test(leak_inside),
		cmocka_unit_test(two_programs),
		cmocka_unit_test(unknown_pool),
		cmocka_unit_test(caller_keeps),
		cmocka_unit_test(others_keep_some),
		cmocka_unit_test(recursive_caller),
		cmocka_unit_test(caller_keeps_little),
		cmocka_unit_test(only_caller_keeps),
		cmocka_unit_test(lambda),
		cmocka_unit_test(copies_in_turn),
	};

	return cmocka_run_group_tests(tests, name_functions, NULL);
}
