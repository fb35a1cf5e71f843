// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests when the report suggests ways to lower the cost of tracing, and which ways. */
#include "sinks/cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MSEC UINT64_C(1000000)
#define MIB (UINT64_C(1) << 20)
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Returns what the report says about the cost. refused: see struct report. */
static char *text_with(struct snapshot *snap, struct tracing_cost cost, unsigned int refused)
{
	const struct report report = {.snapshot = snap, .refused = refused};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	snap->cost = cost;
	cost_write_text(&(struct text_part){out, &report, "", false, LOOK_PLAIN, NULL, false});
	fclose(out);
	return text;
}

static char *text_of_cost(struct snapshot *snap, struct tracing_cost cost)
{
	return text_with(snap, cost, 0);
}

/* Like text_of_cost(), for processes that used one second of CPU time. */
static char *text_of(struct snapshot *snap, uint64_t ns, uint64_t trap_ns)
{
	return text_of_cost(snap, (struct tracing_cost){.elapsed_ns = 2000 * MSEC,
							.calls = 1000,
							.cpu_ns = 1000 * MSEC,
							.ns = ns,
							.trap_ns = trap_ns});
}

/* Writes nothing about sampling if traps cause most of the cost, or if sampling is on. */
static void traps(void **state)
{
	static const struct {
		uint64_t ns, trap_ns;
		enum sampling_mode mode;
		const char *advice;
	} scenes[] = {
		{850 * MSEC, 400 * MSEC, SAMPLING_NONE, ": --sample-bytes 512k (73 % at best); "},
		{850 * MSEC, 400 * MSEC, SAMPLING_BYTES, ": trace for"},
		{850 * MSEC, 400 * MSEC, SAMPLING_COUNT, ": trace for"},
		{400 * MSEC, 290 * MSEC, SAMPLING_NONE, ": --sample-bytes 512k (33 % at best); "},
		{400 * MSEC, 310 * MSEC, SAMPLING_NONE, ": trace for"},
		{400 * MSEC, 400 * MSEC, SAMPLING_NONE, ": trace for"},
	};

	for (size_t i = 0; i < LENGTH(scenes); i++) {
		struct snapshot snap = {.sampling.mode = scenes[i].mode};
		char *text = text_of(&snap, scenes[i].ns, scenes[i].trap_ns);

		assert_non_null(strstr(text, scenes[i].advice));
		free(text);
	}
}

/*
 * Sampling saves nothing if nearly all calls allocate blocks so large that they would be sampled.
 * Blocks that were freed may have been small.
 */
static void large_blocks(void **state)
{
	struct site sites[] = {{.space = SPACE_USER, .bytes = 100 * MIB, .count = 100},
			       {.space = SPACE_USER, .bytes = 2000, .count = 0}};
	struct snapshot snap = {.sites = sites, .site_cnt = LENGTH(sites)};
	char *text = text_of(&snap, 600 * MSEC, 0);

	assert_non_null(strstr(text, ": trace for"));
	free(text);
	sites[1].count = 100;
	text = text_of(&snap, 600 * MSEC, 0);
	assert_non_null(strstr(text, ": --sample-bytes 512k (39 % at best); "));
	free(text);
	sites[1].count = 0;
	snap.calls = 200;
	text = text_of(&snap, 600 * MSEC, 0);
	assert_non_null(strstr(text, ": --sample-bytes 512k (39 % at best); "));
	free(text);
	/* Blocks of the kernel are not sampled with those of processes. */
	sites[0].space = SPACE_KERNEL;
	text = text_of(&snap, 600 * MSEC, 0);
	assert_non_null(strstr(text, ": --sample-bytes 512k (0 % at best); "));
	free(text);
}

/*
 * If a process does almost nothing, most of its CPU time may be that of the probes: the share of a
 * processor is written, and no way to lower it.
 */
static void idle(void **state)
{
	struct snapshot snap = {0};
	struct tracing_cost cost = {.elapsed_ns = 5000 * MSEC, .calls = 10, .cpu_ns = 118 * MSEC};
	char *text;

	cost.ns = 99 * MSEC;
	text = text_of_cost(&snap, cost);
	assert_string_equal(text, "tracing costs some 84 % of the target's CPU time, 2.0 % of a "
				  "processor (2 calls/s)\n");
	free(text);
	cost.is_least = true;
	text = text_of_cost(&snap, cost);
	assert_string_equal(text, "tracing costs more than 84 % of the target's CPU time, 2.0 % of "
				  "a processor (2 calls/s)\n");
	free(text);
	cost.is_least = false;
	cost.ns = 101 * MSEC;
	text = text_of_cost(&snap, cost);
	assert_non_null(strstr(text, "86 % of the target's CPU time (2 calls/s)\nto lower this: "));
	free(text);
	cost.ns = 20 * MSEC;
	text = text_of_cost(&snap, cost);
	assert_string_equal(text, "tracing costs some 17 % of the target's CPU time (2 calls/s)\n");
	free(text);
}

/* No option is advised that conflicts with those in use. */
static void refused(void **state)
{
	static const struct {
		unsigned int refused;
		const char *advice;
	} scenes[] = {
		{1U << ADVISED_SAMPLE_RATE, ": --sample-bytes 512k (50 % at best); trace for"},
		{1U << ADVISED_SAMPLE_BYTES, ": trace for a limited time (-d SECONDS); or restart"},
		{1U << ADVISED_DURATION, ": --sample-bytes 512k (50 % at best); or restart"},
		{1U << ADVISED_DURATION | 1U << ADVISED_SAMPLE_BYTES, ": restart the program"},
		{1U << ADVISED_AGENT, " at best); or trace for a limited time (-d SECONDS)\n"},
		{UINT32_MAX, "(500 calls/s)\n"},
	};
	const struct tracing_cost cost = {.elapsed_ns = 2000 * MSEC,
					  .calls = 1000,
					  .cpu_ns = 1000 * MSEC,
					  .ns = 750 * MSEC,
					  .trap_ns = 250 * MSEC};

	for (size_t i = 0; i < LENGTH(scenes); i++) {
		struct snapshot snap = {0};
		char *text = text_with(&snap, cost, scenes[i].refused);

		if (!strstr(text, scenes[i].advice) ||
		    (scenes[i].refused == UINT32_MAX && strstr(text, "to lower")))
			fail_msg("%s", text);
		free(text);
	}
}

/* With --max-overhead: the line has the maximum and the present step, and no advice follows. */
static void with_maximum(void **state)
{
	struct snapshot snap = {0};
	struct tracing_cost cost = {.elapsed_ns = 2000 * MSEC,
				    .calls = 1000,
				    .cpu_ns = 1000 * MSEC,
				    .ns = 750 * MSEC,
				    .most_share = 0.035};
	char *text = text_of_cost(&snap, cost);

	assert_string_equal(text,
			    "tracing costs some 75 % of the target's CPU time (500 calls/s), at "
			    "most 3.5 %: all blocks are recorded\n");
	free(text);
	cost.sample_bytes = 64 << 10;
	cost.most_share = 0.03;
	text = text_of_cost(&snap, cost);
	assert_non_null(
		strstr(text, "(500 calls/s), at most 3 %: one sample is taken every 64.0 KiB\n"));
	free(text);
	cost.cpu_ns = 0;
	text = text_of_cost(&snap, cost);
	assert_string_equal(
		text, "the cost of tracing is not known yet, at most 3 %: one sample is taken "
		      "every 64.0 KiB\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traps),   cmocka_unit_test(large_blocks), cmocka_unit_test(idle),
		cmocka_unit_test(refused), cmocka_unit_test(with_maximum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
