// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests files for heaptrack: compares them with expected files, and reads them to check what each
 * site has at the time of each snapshot.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "tests/unit/lib/golden.h"
#include "tests/unit/lib/random.h"
#include "tests/unit/lib/scenes.h"
#include "tests/unit/sinks/history.h"

#define MAX_TRACES 64
#define MAX_SIZES 100000

/* State of the reader of a file. Stacks (traces) are numbered from 1, and allocations from 0. */
struct reader {
	uint64_t bytes[MAX_TRACES];
	uint64_t blocks[MAX_TRACES];
	size_t trace_cnt;
	uint64_t size[MAX_SIZES];
	size_t trace[MAX_SIZES];
	size_t size_cnt;
	size_t string_cnt;
	size_t code_cnt;
	size_t line_cnt;
	uint64_t now_ms;
	uint64_t peak;
	uint64_t total;
};

static uint64_t number(char **at)
{
	char *end;
	uint64_t ret = strtoull(*at, &end, 16);

	assert_ptr_not_equal(end, *at);
	*at = end;
	return ret;
}

static void read_allocation(struct reader *reader, char *at)
{
	size_t trace;

	assert_true(reader->size_cnt < MAX_SIZES);
	reader->size[reader->size_cnt] = number(&at);
	trace = number(&at);
	assert_true(trace > 0 && trace <= reader->trace_cnt);
	reader->trace[reader->size_cnt++] = trace;
}

static void read_change(struct reader *reader, char *at, bool comes)
{
	size_t which = number(&at), trace;

	assert_true(which > 0 && which < reader->size_cnt);
	trace = reader->trace[which];
	if (!comes)
		assert_true(reader->blocks[trace] > 0 &&
			    reader->bytes[trace] >= reader->size[which]);
	reader->bytes[trace] += comes ? reader->size[which] : -reader->size[which];
	reader->blocks[trace] += comes ? 1 : -1ULL;
	reader->total += comes ? reader->size[which] : -reader->size[which];
	if (reader->total > reader->peak)
		reader->peak = reader->total;
}

static void read_trace(struct reader *reader, char *at)
{
	uint64_t code = number(&at), parent = number(&at);

	assert_true(code > 0 && code <= reader->code_cnt && parent <= reader->trace_cnt);
	reader->trace_cnt++;
}

static void read_code(struct reader *reader, char *at)
{
	size_t cnt = 0;

	number(&at);
	assert_true(number(&at) <= reader->string_cnt);
	for (; *at; cnt++) {
		uint64_t what = number(&at);

		assert_true(cnt % 3 == 2 || what <= reader->string_cnt);
	}
	assert_int_equal(cnt % 3, 0);
	reader->code_cnt++;
}

static void read_string(struct reader *reader, char *at)
{
	size_t len = number(&at);

	assert_int_equal(strlen(at), len + 1);
	reader->string_cnt++;
}

static void read_line(struct reader *reader, char *line)
{
	reader->line_cnt++;
	switch (*line) {
	case 'a':
		return read_allocation(reader, line + 1);
	case '+':
	case '-':
		return read_change(reader, line + 1, *line == '+');
	case 't':
		return read_trace(reader, line + 1);
	case 'i':
		return read_code(reader, line + 1);
	case 's':
		return read_string(reader, line + 1);
	default:
		assert_true(strchr("vX#", *line) != NULL);
	}
}

/* Reads up to the end of the snapshot of the time `ms`. Advances *text. */
static void read_moment(struct reader *reader, char **text, uint64_t ms)
{
	while (**text) {
		char *line = *text, *end = strchr(line, '\n');

		assert_non_null(end);
		if (*line == 'c') {
			char *at = line + 1;

			if (reader->now_ms == ms && number(&at) > ms)
				return;
			at = line + 1;
			reader->now_ms = number(&at);
		}
		*text = end + 1;
		*end = 0;
		if (*line != 'c')
			read_line(reader, line);
	}
}

static bool holds(const struct reader *reader, uint64_t bytes, uint64_t block_cnt)
{
	for (size_t i = 1; i <= reader->trace_cnt; i++)
		if (reader->bytes[i] == bytes && reader->blocks[i] == block_cnt)
			return true;
	return !bytes && !block_cnt;
}

static void check_moments(char *text, const struct snapshot *snaps, size_t cnt, uint64_t unit)
{
	cleanup_free struct reader *reader = calloc(1, sizeof(*reader));
	uint64_t most = 0;

	assert_non_null(reader);
	for (size_t i = 0; i < cnt; i++) {
		uint64_t bytes = 0;

		read_moment(reader, &text, snaps[i].elapsed_ns / MS);
		for (size_t j = 0; j < snaps[i].site_cnt; j++) {
			const struct site *site = &snaps[i].sites[j];

			bytes += site->bytes;
			assert_true(holds(reader, site->bytes, (site->count + unit - 1) / unit));
		}
		assert_int_equal(reader->total, bytes);
		most = bytes > most ? bytes : most;
	}
	assert_int_equal(reader->peak, most);
}

static void as_expected(void **state)
{
	const struct snapshot hostile_snapshot =
		SNAPSHOT(hostile_sites, .lost = {[LOSS_UNWIND] = 3});
	const struct snapshot kinds = SNAPSHOT(kind_sites), empty = SNAPSHOT_OF(NULL, 0);
	cleanup_free char *told = print_history(&sink_heaptrack, story, LENGTH(story));
	cleanup_free char *odd = print_history(&sink_heaptrack, &hostile_snapshot, 1);
	cleanup_free char *kind = print_history(&sink_heaptrack, &kinds, 1);
	cleanup_free char *nothing = print_history(&sink_heaptrack, &empty, 1);

	compare("story", "heaptrack", told);
	compare("hostile", "heaptrack", odd);
	compare("kinds", "heaptrack", kind);
	compare("empty", "heaptrack", nothing);
}

static void each_moment_is_right(void **state)
{
	cleanup_free char *text = print_history(&sink_heaptrack, story, LENGTH(story));

	check_moments(text, story, LENGTH(story), 1);
}

static void random_histories(void **state)
{
	uint64_t seed = 7;

	for (size_t turn = 0; turn < 300; turn++) {
		struct site sites[20][3] = {0};
		struct snapshot snaps[20] = {0};
		cleanup_free char *text = NULL;

		for (size_t i = 0; i < 20; i++) {
			snaps[i] = (struct snapshot){.wall_ns = WALL_NS,
						     .elapsed_ns = (i + 1) * 1000 * MS,
						     .sites = sites[i],
						     .site_cnt = 3};
			for (size_t j = 0; j < 3; j++) {
				uint64_t count = random_next(&seed) % 20;

				count += i == 19;
				sites[i][j] = (struct site){
					.id = j + 1,
					.process = &leak,
					.count = count,
					.bytes = count ? random_next(&seed) % 1000 : 0,
					.frames = &small_stack[j],
					.frame_cnt = 1};
			}
		}
		text = print_history(&sink_heaptrack, snaps, LENGTH(snaps));
		check_moments(text, snaps, LENGTH(snaps), 1);
	}
}

/*
 * For millions of blocks there are fewer lines, each of which stands for several blocks. Bytes are
 * still exact, and so are small numbers of blocks.
 */
static void many_blocks(void **state)
{
	struct site sites[2][2] = {
		{{.id = 1, .process = &leak, .bytes = 10000019, .count = 999983, STACK(big_stack)},
		 {.id = 2, .process = &leak, .bytes = 3000, .count = 20, STACK(small_stack)}},
		{{.id = 1, .process = &leak, .bytes = 20000003, .count = 1999983, STACK(big_stack)},
		 {.id = 2, .process = &leak, .bytes = 3010, .count = 21, STACK(small_stack)}},
	};
	const struct snapshot snaps[] = {
		{.elapsed_ns = 1000 * MS, .sites = sites[0], .site_cnt = 2},
		{.elapsed_ns = 2000 * MS, .sites = sites[1], .site_cnt = 2},
	};
	cleanup_free char *text = print_history(&sink_heaptrack, snaps, 2);
	cleanup_free struct reader *reader = calloc(1, sizeof(*reader));
	char *at = text;

	assert_non_null(reader);
	assert_non_null(strstr(text, "[each stands for 21 allocations]"));
	read_moment(reader, &at, 1000);
	assert_true(holds(reader, 10000019, (999983 + 20) / 21));
	assert_true(holds(reader, 3000, 20));
	read_moment(reader, &at, 2000);
	assert_true(holds(reader, 20000003, (1999983 + 20) / 21));
	assert_true(holds(reader, 3010, 21));
	assert_in_range(reader->line_cnt, 95000, 110000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_expected),
		cmocka_unit_test(each_moment_is_right),
		cmocka_unit_test(random_histories),
		cmocka_unit_test(many_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
