// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the advice against losses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "sinks/sink.h"
#include "sinks/text_facts.h"
#include "sinks/text_part.h"

static char *lines_of(bool can_sample)
{
	uint64_t lost[LOSS_CNT];
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	for (size_t i = 0; i < LOSS_CNT; i++)
		lost[i] = 2;
	text_write_lost(out, lost, can_sample, false);
	fclose(out);
	return text;
}

/* Sampling is advised only to a run that supports it. */
static void sampling(void **state)
{
	cleanup_free char *with = lines_of(true), *without = lines_of(false);

	assert_non_null(strstr(with, "(raise --max-memory or --max-allocs, or sample with -s)\n"));
	assert_non_null(strstr(with, "(sample with -s)\n"));
	assert_non_null(strstr(with, "(filter with -z, -Z or -s)\n"));
	assert_null(strstr(without, "-s)"));
	assert_non_null(strstr(without, "(raise --max-memory or --max-allocs)\n"));
	assert_non_null(strstr(without, "no memory for the state of the thread\n"));
	assert_non_null(strstr(without, "(filter with -z or -Z)\n"));
}

/* The line near the top of a report gives the same advice. */
static void incomplete(void **state)
{
	struct snapshot snap = {.lost[LOSS_ALLOCS_FULL] = 50};
	struct report report = {.snapshot = &snap, .count = 50};
	static const char *const ends[] = {", or sample with -s)\n", " or --max-allocs)\n"};

	for (size_t i = 0; i < 2; i++) {
		cleanup_free char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		report.refused = i ? 1U << ADVISED_SAMPLE_RATE : 0;
		text_write_incomplete(out, &report);
		fclose(out);
		assert_non_null(strstr(text, ends[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sampling),
		cmocka_unit_test(incomplete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
