// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests when the report suggests sampling, to lower the cost of tracing. */
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

/* Returns what the report says about the cost. The processes used one second of CPU time. */
static char *text_of(struct snapshot *snap, uint64_t ns, uint64_t trap_ns)
{
	const struct report report = {.snapshot = snap};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	snap->cost = (struct tracing_cost){.elapsed_ns = 2000 * MSEC,
					   .calls = 1000,
					   .cpu_ns = 1000 * MSEC,
					   .ns = ns,
					   .trap_ns = trap_ns};
	cost_write_text(&(struct text_part){out, &report, "", false, LOOK_PLAIN, NULL, false});
	fclose(out);
	return text;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traps),
		cmocka_unit_test(large_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
