// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a report on the last of several snapshots, with the history of each site. */
#include "tests/unit/sinks/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "tests/unit/lib/fake_symbols.h"
#include "tests/unit/lib/scenes.h"

char *print_history(const struct sink *sink, const struct snapshot *snaps, size_t cnt)
{
	struct fake_symbols symbols = fake_symbols_of(known_locations, LENGTH(known_locations));
	const struct options opts = {.top = UINT32_MAX};
	cleanup_free struct growth *growth = NULL;
	struct ranking *ranking;
	struct report report;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(ranking__new(&ranking), 0);
	for (size_t i = 0; i < cnt; i++) {
		free(growth);
		growth = calloc(snaps[i].site_cnt + 1, sizeof(*growth));
		assert_non_null(growth);
		assert_int_equal(ranking__update(ranking, &snaps[i], growth), 0);
	}
	assert_int_equal(report_init(&opts, &snaps[cnt - 1], growth, &symbols.backend, UINT64_MAX,
				     true, &report),
			 0);
	assert_int_equal(sink->report(out, &report), 0);
	fclose(out);
	assert_int_equal(strlen(text), len);
	report_deinit(&report);
	ranking__free(ranking);
	return text;
}

#define HISTORY_SITES(leaked, cached, working, late)                                               \
	(struct site[])                                                                            \
	{                                                                                          \
		{.id = 1,                                                                          \
		 .process = &leak,                                                                 \
		 .bytes = 100 * (leaked) + 1,                                                      \
		 .count = 3 * (leaked),                                                            \
		 .ages = {.count = {[12] = 3 * (leaked)}, .bytes = {[12] = 100 * (leaked) + 1}},   \
		 .kept = {[12] = 3 * (leaked)-3},                                                  \
		 AGES(MS, 900 * MS),                                                               \
		 STACK(small_stack)},                                                              \
			{.id = 2,                                                                  \
			 .process = &leak,                                                         \
			 .bytes = 4096 * (cached),                                                 \
			 .count = (cached),                                                        \
			 AGES(MS, 900 * MS),                                                       \
			 STACK(cxx_stack)},                                                        \
			{.id = 3,                                                                  \
			 .process = &leak,                                                         \
			 .kind = KIND_MMAP,                                                        \
			 .bytes = 1000 * (working) + (working) % 3,                                \
			 .count = (working),                                                       \
			 AGES(MS, 900 * MS),                                                       \
			 STACK(odd_stack),                                                         \
			 .end = STACK_END_NO_RULE},                                                \
			{.id = 4,                                                                  \
			 .process = &leak,                                                         \
			 .bytes = 7 * (late),                                                      \
			 .count = (late),                                                          \
			 AGES(MS, 900 * MS),                                                       \
			 STACK(big_stack)},                                                        \
	}
#define HISTORY_SNAPSHOT(second, ...)                                                              \
	{                                                                                          \
		.wall_ns = WALL_NS, .t0_ns = 1000000 * MS, .elapsed_ns = (second)*5000 * MS,       \
		.sites = HISTORY_SITES(__VA_ARGS__), .site_cnt = 4                                 \
	}
const struct snapshot story[] = {
	HISTORY_SNAPSHOT(1, 1, 2, 9, 0),  HISTORY_SNAPSHOT(2, 2, 4, 3, 0),
	HISTORY_SNAPSHOT(3, 3, 6, 7, 0),  HISTORY_SNAPSHOT(4, 4, 6, 2, 0),
	HISTORY_SNAPSHOT(5, 5, 6, 8, 1),  HISTORY_SNAPSHOT(6, 6, 6, 1, 2),
	HISTORY_SNAPSHOT(7, 7, 6, 10, 3), HISTORY_SNAPSHOT(8, 8, 6, 5, 4),
};
