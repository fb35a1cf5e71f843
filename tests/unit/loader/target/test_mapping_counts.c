// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests how the file or kind of memory of most new mappings is found. */
#include "loader/target/mapping_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *const fields[] = {
	"rw-p 00000000 00:00 0",
	"r--s 00001000 fe:01 77 /data/index.dat",
	"r-xp 00001000 fe:01 78 /tmp/plugin.so (deleted)",
	"rw-s 00000000 00:01 79 /dev/zero (deleted)",
	"rw-s 00000000 00:01 80 /memfd:piece (deleted)",
	"rw-s 00000000 00:10 81 anon_inode:[io_uring]",
};

static const char *const names[LENGTH(fields)] = {
	"anonymous memory",        "index.dat",   "deleted files",
	"shared anonymous memory", "memfd:piece", "anon_inode:[io_uring]",
};

/* Counts mappings: cnt[i] of them have fields[i]. */
static void take(struct mapping_counts *counts, const size_t cnt[LENGTH(fields)])
{
	struct proc_maps maps;
	char text[8192];
	size_t len = 0, page = 16;

	for (size_t i = 0; i < LENGTH(fields); i++)
		for (size_t j = 0; j < cnt[i]; j++, page += 2)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"%zx000-%zx000 %s\n", page, page + 1, fields[i]);
	assert_int_equal(proc_maps_parse(text, len, &maps), 0);
	mapping_counts_take(counts, &maps);
	proc_maps_deinit(&maps);
}

/* The kind that was added most is named, even if more mappings of another kind exist. */
static void most_new_mappings(void **state)
{
	for (size_t i = 0; i < LENGTH(fields); i++) {
		size_t cnt[LENGTH(fields)] = {20, 10};
		struct mapping_counts counts = {.next_ns = 0};

		take(&counts, cnt);
		assert_string_equal(counts.mapped, "");
		cnt[i] += 8;
		take(&counts, cnt);
		assert_int_equal(counts.cnt, 38);
		assert_string_equal(counts.mapped, names[i]);
		mapping_counts_deinit(&counts);
	}
}

/* Nothing is named if no kind has half of the new mappings, or if there are no new mappings. */
static void no_name(void **state)
{
	static const size_t first[LENGTH(fields)] = {20}, mixed[] = {24, 4, 4, 4, 4, 4},
			    none[LENGTH(fields)] = {18, 2};
	struct mapping_counts counts = {.next_ns = 0};

	take(&counts, first);
	take(&counts, mixed);
	assert_string_equal(counts.mapped, "");
	take(&counts, none);
	assert_string_equal(counts.mapped, "");
	mapping_counts_deinit(&counts);
}

static void limits(void **state)
{
	static const struct rlimit limit = {1ULL << 46, 1ULL << 46};
	struct mapping_counts counts = {.next_ns = 0};
	struct footprint footprint = {.is_known = true};

	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	mapping_counts_read(&counts, getpid(), &footprint);
	assert_true(footprint.parts[FOOTPRINT_MAPPINGS] > 10);
	assert_int_equal(footprint.virtual_max, 1ULL << 46);
	assert_true(footprint.mappings_max > footprint.parts[FOOTPRINT_MAPPINGS]);
	mapping_counts_deinit(&counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_new_mappings),
		cmocka_unit_test(no_name),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
