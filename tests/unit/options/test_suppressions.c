// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests suppression files, their patterns, and their effect on a snapshot. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "report/peak.h"
#include "report/suppressor.h"
#include "tests/unit/lib/fake_symbols.h"
#include "tests/unit/lib/process.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
static void pattern_in_name(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} lines[] = {
		{"put", "cache_put", true},
		{"put", "cache_get", false},
		{"cache_put", "cache_put", true},
		{"cache_put_", "cache_put", false},
		{"^put", "cache_put", false},
		{"^cache", "cache_put", true},
		{"put$", "cache_put", true},
		{"cache$", "cache_put", false},
		{"^cache_put$", "cache_put", true},
		{"^cache_put$", "cache_put2", false},
		{"^cache_put$", "a_cache_put", false},
		{"foo$", "foofoo", true},
		{"^foo$", "foofoo", false},
		{"^foo*foo$", "foofoo", true},
		{"^foo*foo$", "foo", false},
		{"c*t", "cache_put", true},
		{"^c*t$", "cache_put", true},
		{"^c*p*t$", "cache_put", true},
		{"^c*p*u$", "cache_put", false},
		{"^*put$", "cache_put", true},
		{"^cache*$", "cache_put", true},
		{"a*a*a", "aa", false},
		{"a*a*a", "aaa", true},
		{"*", "x", true},
		{"***", "x", true},
		{"^", "x", true},
		{"$", "x", true},
		{"^$", "x", false},
		{"*$", "x", true},
		{"^*x*$", "x", true},
		{"x", "", false},
		{"a^b", "a^b", true},
		{"a^b", "ab", false},
		{"$LT$u8", "_$LT$u8$GT$", true},
		{"GT$$", "_$LT$u8$GT$", true},
		{"LT$$", "_$LT$u8$GT$", false},
		{"^foo(char*)$", "foo(char*)", true},
		{"?[a-z]", "b", false},
		{"/libfoo.so", "/usr/lib/libfoo.so.1", true},
	};

	for (size_t i = 0; i < LENGTH(lines); i++)
		if (suppression_matches(lines[i].pattern, lines[i].text) != lines[i].matches)
			fail_msg("'%s' in '%s'", lines[i].pattern, lines[i].text);
}

/* A matcher that backtracks would practically never finish with these patterns. */
static void hostile_patterns_end(void **state)
{
	enum { SIZE = 1 << 16 };
	cleanup_free char *pattern = malloc(SIZE + 1), *text = malloc(SIZE + 1);

	assert_non_null(pattern);
	assert_non_null(text);
	memset(text, 'a', SIZE);
	text[SIZE] = pattern[SIZE] = '\0';
	memset(pattern, '*', SIZE);
	assert_true(suppression_matches(pattern, text));
	for (size_t i = 1; i < SIZE; i += 2)
		pattern[i] = 'a';
	pattern[SIZE - 1] = 'b';
	assert_false(suppression_matches(pattern, text));
	for (size_t i = 0; i < SIZE; i++)
		pattern[i] = i < SIZE / 2 ? 'a' : i % 64 ? 'a' : '*';
	pattern[SIZE - 1] = 'b';
	assert_false(suppression_matches(pattern, text));
}

static void check_bad(const char *text, size_t len, const char *words)
{
	struct suppressions suppressions = {0};
	cleanup_free char *why = NULL;

	assert_int_equal(suppressions_parse(&suppressions, "f.supp", text, len, &why), -EINVAL);
	assert_non_null(why);
	if (!strstr(why, words))
		fail_msg("'%s' does not say '%s'", why, words);
	suppressions_deinit(&suppressions);
}

/* Messages do not contain lines: with sudo, the user may not be allowed to read the file. */
static void bad_lines(void **state)
{
	static const char zero[] = "leak:a\nleak:b\0c\n";
	cleanup_free char *huge = malloc(1 << 20);

	check_bad("leak:a\nrace:b\n", 14, "f.supp:2: it does not begin with leak:");
	check_bad("\n\n# x\nleak", 10, "f.supp:4: it does not begin with leak:");
	check_bad("leak:", 5, "f.supp:1: there is no pattern");
	check_bad("leak:  \t\r\n", 10, "f.supp:1: there is no pattern");
	check_bad("Leak:a", 6, "f.supp:1: it does not begin with leak:");
	check_bad(zero, sizeof(zero) - 1, "f.supp:2: it contains a NUL byte");
	assert_non_null(huge);
	memset(huge, 'x', 1 << 20);
	check_bad(huge, 1 << 20, "f.supp:1: it does not begin with leak:");
}

static void good_lines(void **state)
{
	static const char text[] = "# comment\n\n  \t\r\nleak:first\r\n \tleak: a b \t\n#leak:no\n"
				   "leak:#x\nleak:\xff\xfe\nleak:leak:last";
	static const char *const expected[] = {"first", " a b", "#x", "\xff\xfe", "leak:last"};
	struct suppressions suppressions = {0};
	char *why;

	assert_int_equal(suppressions_parse(&suppressions, "f", text, sizeof(text) - 1, &why), 0);
	assert_null(why);
	assert_int_equal(suppressions.cnt, LENGTH(expected));
	for (size_t i = 0; i < suppressions.cnt; i++)
		assert_string_equal(suppressions.patterns[i], expected[i]);
	assert_int_equal(suppressions_parse(&suppressions, "f", "", 0, &why), 0);
	assert_int_equal(suppressions.cnt, LENGTH(expected));
	suppressions_deinit(&suppressions);
}

/* A line may be as long as a file of the maximum size. */
static void long_line(void **state)
{
	enum { SIZE = 4 << 20 };
	struct suppressions suppressions = {0};
	cleanup_free char *text = malloc(SIZE);
	char *why;

	assert_non_null(text);
	memset(text, '*', SIZE);
	memcpy(text, "leak:", 5);
	assert_int_equal(suppressions_parse(&suppressions, "f", text, SIZE, &why), 0);
	assert_int_equal(suppressions.cnt, 1);
	assert_int_equal(strlen(suppressions.patterns[0]), SIZE - 5);
	suppressions_deinit(&suppressions);
}

static void files(void **state)
{
	struct suppressions suppressions = {0};
	cleanup_free char *missing = NULL, *huge = NULL, *device = NULL, *folder = NULL;
	FILE *file = tmpfile();
	char path[64];

	assert_non_null(file);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	assert_int_equal(ftruncate(fileno(file), 16 << 20), 0);
	assert_int_equal(suppressions_read(&suppressions, "/nowhere/x", &missing), -ENOENT);
	assert_non_null(strstr(missing, "/nowhere/x: "));
	assert_int_equal(suppressions_read(&suppressions, path, &huge), -EFBIG);
	assert_int_equal(suppressions_read(&suppressions, "/dev/zero", &device), -ENOEXEC);
	assert_non_null(strstr(device, "/dev/zero: not a regular file"));
	assert_int_equal(suppressions_read(&suppressions, "/", &folder), -ENOEXEC);
	assert_int_equal(suppressions.cnt, 0);
	suppressions_deinit(&suppressions);
	fclose(file);
}

/* Opening a named pipe could wait for ever for a writer. */
static void named_pipe(void **state)
{
	char folder[] = "/tmp/test_suppressions.XXXXXX", path[64];
	struct suppressions suppressions = {0};
	cleanup_free char *why = NULL;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(suppressions_read(&suppressions, path, &why), -ENOEXEC);
	assert_int_equal(unlink(path) || rmdir(folder), 0);
}

static const struct sym_frame inlined[] = {
	{.symbol = "inner", .file = "inner.h", .inlined = true},
	{.symbol = "outer", .file = "src/outer.c"},
};
static const struct sym_frame nameless[] = {{0}};
static const struct sym_location places[] = {
	{.addr = 1, .module = "/bin/leak", .frames = inlined, .frame_cnt = 2},
	{.addr = 2, .module = "/lib/libx.so", .frames = nameless, .frame_cnt = 1},
	{.addr = 3, .frames = nameless, .frame_cnt = 1},
};

static void place_by_any_name(void **state)
{
	static const struct {
		const char *pattern;
		bool matches[LENGTH(places)];
	} lines[] = {
		{"^inner$", {true, false, false}},   {"^outer$", {true, false, false}},
		{"outer.c$", {true, false, false}},  {"^inner.h", {true, false, false}},
		{"/bin/leak", {true, false, false}}, {"libx", {false, true, false}},
		{"*", {true, true, false}},          {"nobody", {false, false, false}},
	};

	for (size_t i = 0; i < LENGTH(lines); i++) {
		char *patterns[] = {(char *)"never", (char *)lines[i].pattern};
		const struct suppressions suppressions = {.patterns = patterns, .cnt = 2};

		for (size_t j = 0; j < LENGTH(places); j++)
			assert_int_equal(suppressions_find(&suppressions, &places[j]),
					 lines[i].matches[j] ? 1 : 2);
	}
}

static void check_made(const char *name, const char *expected)
{
	cleanup_free char *pattern = suppression_of(name);

	assert_non_null(pattern);
	assert_string_equal(pattern, expected);
	assert_true(suppression_matches(pattern, name));
}

static void pattern_of_name(void **state)
{
	check_made("cache_put", "^cache_put$");
	check_made("operator*(A const&)", "^operator*(A const&)$");
	check_made(" a\nb\x1b[2J\x7f", "^ a*b*[2J*$");
	check_made("\xff\xc3\xa4", "^*\xc3\xa4$");
	check_made("^a$", "^^a$$");
}

static uint64_t frames[] = {1, 2, 3, 4};

/*
 * Five sites with one or two frames each: 1. a function "inner" that is inlined into "outer"; 2. a
 * function of libx; 3. an unnamed function; 4. a function of libx called by an unnamed function; 5.
 * a frame that is not resolved.
 */
#define SITES                                                                                      \
	{                                                                                          \
		{.id = 50, .bytes = 10, .count = 1, .frames = frames, .frame_cnt = 1},             \
			{.id = 10, .bytes = 20, .count = 2, .frames = frames + 1, .frame_cnt = 1}, \
			{.id = 30, .bytes = 30, .count = 3, .frames = frames + 2, .frame_cnt = 1}, \
			{.id = 40, .bytes = 40, .count = 4, .frames = frames + 1, .frame_cnt = 2}, \
			{.id = 20, .bytes = 50, .count = 5, .frames = frames + 3, .frame_cnt = 1}, \
	}

static char *patterns[] = {(char *)"never", (char *)"libx", (char *)"inner", (char *)"*.so"};
static const struct suppressions suppressions = {.patterns = patterns, .cnt = LENGTH(patterns)};

static void check_sum(const struct snapshot *snap, size_t i, uint64_t bytes, uint64_t count,
		      size_t sites)
{
	assert_string_equal(snap->suppressed[i].pattern, patterns[i]);
	assert_int_equal(snap->suppressed[i].bytes, bytes);
	assert_int_equal(snap->suppressed[i].count, count);
	assert_int_equal(snap->suppressed[i].sites, sites);
}

static void takes_out(void **state)
{
	struct site sites[] = SITES, later[] = SITES;
	struct block blocks[] = {{.site = 0, .addr = 100},
				 {.site = 2, .addr = 200},
				 {.site = 2, .addr = 201},
				 {.site = 3, .addr = 300},
				 {.site = 4, .addr = 400}};
	struct snapshot snap = {.sites = sites, .site_cnt = 5, .blocks = blocks, .block_cnt = 5};
	struct snapshot_view snap_view = snapshot_view_of(&snap);
	struct snapshot next = {.sites = later, .site_cnt = 5};
	struct snapshot_view next_view = snapshot_view_of(&next);
	struct fake_symbols symbols = fake_symbols_of(places, LENGTH(places));
	const uint64_t deadline_ns = patience();
	struct suppressor *suppressor;

	assert_int_equal(suppressor__new(&suppressions, &suppressor), 0);
	assert_int_equal(suppressor__apply(suppressor, &symbols.backend, deadline_ns, &snap_view),
			 0);
	assert_int_equal(symbols.prepared_cnt, 5);
	assert_true(symbols.deadline_ns == deadline_ns);
	assert_int_equal(snap_view.snap.site_cnt, 2);
	assert_int_equal(snap_view.snap.sites[0].id, 30);
	assert_int_equal(snap_view.snap.sites[1].id, 20);
	assert_int_equal(snap_view.snap.block_cnt, 3);
	for (size_t i = 0; i < 3; i++) {
		static const uint64_t addrs[] = {200, 201, 400};

		assert_int_equal(snap_view.snap.blocks[i].addr, addrs[i]);
		assert_int_equal(snap_view.snap.blocks[i].site, i / 2);
	}
	/* The snapshot itself is unchanged. */
	assert_int_equal(snap.site_cnt, 5);
	assert_int_equal(sites[0].id, 50);
	assert_int_equal(blocks[4].site, 4);
	assert_int_equal(snap_view.snap.suppressed_cnt, LENGTH(patterns));
	check_sum(&snap_view.snap, 0, 0, 0, 0);
	check_sum(&snap_view.snap, 1, 60, 6, 2);
	check_sum(&snap_view.snap, 2, 10, 1, 1);
	check_sum(&snap_view.snap, 3, 0, 0, 0);
	/* Only the unresolved frame is looked up again. */
	assert_int_equal(suppressor__apply(suppressor, &symbols.backend, patience(), &next_view),
			 0);
	assert_int_equal(symbols.prepared_cnt, 1);
	assert_int_equal(next_view.snap.site_cnt, 2);
	check_sum(&next_view.snap, 1, 60, 6, 2);
	snapshot_view_deinit(&snap_view);
	snapshot_view_deinit(&next_view);
	suppressor__free(suppressor);
}

/*
 * Blocks that are reachable only from suppressed blocks are left out like these. Here these are all
 * blocks of one site and some of another. A block is kept if a block that is not suppressed points
 * to it as well.
 */
static void takes_out_what_hangs(void **state)
{
	static const struct hanging_sum hanging[] = {
		{.site = 10, .head = 30, {10, 1}}, {.site = 20, .head = 10, {20, 2}},
		{.site = 20, .head = 50, {30, 3}}, {.site = 30, .head = 20, {5, 1}},
		{.site = 30, .head = 40, {12, 1}}, {.site = 30, .head = 99, {1, 1}},
	};
	struct site sites[] = SITES;
	const struct proof_facts proof = {.of[REACH_DEFINITE] = {90, 9},
					  .of[REACH_INDIRECT] = {78, 9}};
	struct snapshot snap = {.sites = sites,
				.site_cnt = 5,
				.proof = &proof,
				.hanging = hanging,
				.hanging_cnt = LENGTH(hanging)};
	struct snapshot_view snap_view = snapshot_view_of(&snap);
	struct fake_symbols symbols = fake_symbols_of(places, LENGTH(places));
	struct suppressor *suppressor;
	const struct site *left;

	sites[0].reach.of[REACH_DEFINITE] = (struct reach_sum){10, 1};
	sites[1].reach.of[REACH_INDIRECT] = (struct reach_sum){10, 1};
	sites[2].reach.of[REACH_DEFINITE] = (struct reach_sum){12, 1};
	sites[2].reach.of[REACH_INDIRECT] = (struct reach_sum){18, 2};
	sites[4].reach.of[REACH_INDIRECT] = (struct reach_sum){50, 5};
	assert_int_equal(suppressor__new(&suppressions, &suppressor), 0);
	assert_int_equal(suppressor__apply(suppressor, &symbols.backend, patience(), &snap_view),
			 0);
	assert_int_equal(snap_view.snap.site_cnt, 1);
	left = &snap_view.snap.sites[0];
	assert_int_equal(left->id, 30);
	assert_int_equal(left->bytes, 18);
	assert_int_equal(left->count, 2);
	assert_int_equal(left->reach.of[REACH_INDIRECT].bytes, 6);
	assert_int_equal(left->reach.of[REACH_INDIRECT].count, 1);
	assert_int_equal(left->reach.of[REACH_DEFINITE].bytes, 12);
	assert_int_equal(snap_view.snap.proof->of[REACH_DEFINITE].bytes, 80);
	assert_int_equal(snap_view.snap.proof->of[REACH_DEFINITE].count, 8);
	assert_int_equal(snap_view.snap.proof->of[REACH_INDIRECT].bytes, 78 - 10 - 12 - 50);
	assert_int_equal(snap_view.snap.proof->of[REACH_INDIRECT].count, 9 - 1 - 1 - 5);
	check_sum(&snap_view.snap, 1, 60 + 20 + 12, 6 + 2 + 1, 2);
	check_sum(&snap_view.snap, 2, 10 + 30, 1 + 3, 2);
	/* The snapshot itself is unchanged. */
	assert_int_equal(sites[2].bytes, 30);
	assert_ptr_equal(snap.proof, &proof);
	snapshot_view_deinit(&snap_view);
	suppressor__free(suppressor);
}

/*
 * Names that were not found before the deadline are looked up again for the next snapshot; others
 * are cached.
 */
static void late_names(void **state)
{
	struct site sites[] = SITES, later[] = SITES;
	struct snapshot snap = {.sites = sites, .site_cnt = 4};
	struct snapshot_view snap_view = snapshot_view_of(&snap);
	struct snapshot next = {.sites = later, .site_cnt = 4};
	struct snapshot_view next_view = snapshot_view_of(&next);
	struct fake_symbols none = fake_symbols_of(places + 1, 2);
	struct fake_symbols symbols = fake_symbols_of(places, LENGTH(places));
	struct suppressor *suppressor;

	assert_int_equal(suppressor__new(&suppressions, &suppressor), 0);
	assert_int_equal(suppressor__apply(suppressor, &none.backend, 0, &snap_view), 0);
	assert_int_equal(none.prepared_cnt, 4);
	assert_int_equal(snap_view.snap.site_cnt, 2);
	check_sum(&snap_view.snap, 1, 60, 6, 2);
	check_sum(&snap_view.snap, 2, 0, 0, 0);
	assert_int_equal(suppressor__apply(suppressor, &symbols.backend, patience(), &next_view),
			 0);
	assert_int_equal(symbols.prepared_cnt, 2);
	assert_int_equal(next_view.snap.site_cnt, 1);
	check_sum(&next_view.snap, 2, 10, 1, 1);
	snapshot_view_deinit(&snap_view);
	snapshot_view_deinit(&next_view);
	suppressor__free(suppressor);
}

/*
 * In a recording, a name may be missing from the first snapshots. Once a snapshot has it, the site
 * stays suppressed.
 */
static void names_of_later_snapshots(void **state)
{
	static const struct sym_location early = {
		.addr = 1, .module = "/bin/leak", .frames = nameless, .frame_cnt = 1};
	struct fake_symbols none = fake_symbols_of(&early, 1);
	struct fake_symbols all = fake_symbols_of(places, LENGTH(places));
	struct fake_symbols *snapshots[] = {&none, &none, &all, &none};
	struct suppressor *suppressor;

	assert_int_equal(suppressor__new(&suppressions, &suppressor), 0);
	for (size_t i = 0; i < LENGTH(snapshots); i++) {
		struct site sites[] = SITES;
		struct snapshot snap = {.sites = sites, .site_cnt = 1};
		struct snapshot_view snap_view = snapshot_view_of(&snap);
		struct symbol_backend *symbols = &snapshots[i]->backend;

		symbols->names_follow = true;
		assert_int_equal(suppressor__apply(suppressor, symbols, patience(), &snap_view), 0);
		assert_int_equal(snap_view.snap.site_cnt, i < 2);
		snapshot_view_deinit(&snap_view);
	}
	suppressor__free(suppressor);
}

static void takes_out_of_peak(void **state)
{
	struct site sites[] = SITES, peak_sites[] = SITES;
	const struct peak peak = {.bytes = 150,
				  .count = 15,
				  .highest_bytes = 170,
				  .sites = peak_sites,
				  .site_cnt = 5};
	struct snapshot snap = {.sites = sites, .site_cnt = 1, .peak = &peak};
	struct snapshot_view snap_view = snapshot_view_of(&snap);
	struct fake_symbols symbols = fake_symbols_of(places, LENGTH(places));
	struct suppressor *suppressor;

	assert_int_equal(suppressor__new(&suppressions, &suppressor), 0);
	assert_int_equal(suppressor__apply(suppressor, &symbols.backend, patience(), &snap_view),
			 0);
	assert_int_equal(snap_view.snap.site_cnt, 0);
	assert_ptr_not_equal(snap_view.snap.peak, &peak);
	assert_int_equal(snap_view.snap.peak->site_cnt, 2);
	assert_int_equal(snap_view.snap.peak->sites[0].id, 30);
	assert_int_equal(snap_view.snap.peak->bytes, 80);
	assert_int_equal(snap_view.snap.peak->count, 8);
	assert_int_equal(snap_view.snap.peak->highest_bytes, 100);
	assert_int_equal(peak.site_cnt, 5);
	check_sum(&snap_view.snap, 1, 0, 0, 0);
	check_sum(&snap_view.snap, 2, 10, 1, 1);
	snapshot_view_deinit(&snap_view);
	suppressor__free(suppressor);
}

static void no_memory(void **state)
{
	struct site sites[] = SITES;
	struct snapshot snap = {.sites = sites, .site_cnt = 5}, empty = {0};
	struct snapshot_view empty_view = snapshot_view_of(&empty);
	struct snapshot_view snap_view = snapshot_view_of(&snap);
	struct fake_symbols symbols = fake_symbols_of(places, LENGTH(places));
	struct suppressor *suppressor;

	assert_int_equal(suppressor__new(&suppressions, &suppressor), 0);
	symbols.prepare_result = -ENOMEM;
	assert_int_equal(suppressor__apply(suppressor, &symbols.backend, patience(), &snap_view),
			 -ENOMEM);
	assert_int_equal(snap_view.snap.site_cnt, 5);
	assert_int_equal(suppressor__apply(suppressor, &symbols.backend, patience(), &empty_view),
			 0);
	assert_int_equal(symbols.prepare_cnt, 1);
	snapshot_view_deinit(&snap_view);
	snapshot_view_deinit(&empty_view);
	suppressor__free(suppressor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pattern_in_name),
		cmocka_unit_test(hostile_patterns_end),
		cmocka_unit_test(bad_lines),
		cmocka_unit_test(good_lines),
		cmocka_unit_test(long_line),
		cmocka_unit_test(files),
		cmocka_unit_test(named_pipe),
		cmocka_unit_test(place_by_any_name),
		cmocka_unit_test(pattern_of_name),
		cmocka_unit_test(takes_out),
		cmocka_unit_test(takes_out_what_hangs),
		cmocka_unit_test(late_names),
		cmocka_unit_test(names_of_later_snapshots),
		cmocka_unit_test(takes_out_of_peak),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
