// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests comparing two snapshots: of one run, or of two runs that differ in pids and in addresses of
 * code. The expected text and JSON are in tests/golden/diff/; with GOLDEN_UPDATE=1 they are
 * rewritten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "report/diff.h"
#include "sinks/diff.h"
#include "sinks/html.h"
#include "tests/unit/lib/fake_symbols.h"
#include "tests/unit/lib/golden.h"
#include "tests/unit/lib/json_check.h"
#include "tests/unit/lib/page.h"
#include "tests/unit/lib/scenes.h"

/*
 * In the second run, the program has another load address, and the library was rebuilt and is in
 * another folder.
 */
#define SERVER .module = "/usr/bin/server", .build_id = "aaaa"
#define OLD_LIBRARY .module = "/usr/lib/libcache.so.1", .build_id = "b1"
#define NEW_LIBRARY .module = "/opt/lib/libcache.so.1", .build_id = "b2"
#define NAMED(name, ...) ONE(.symbol = name, .file = "server.c", __VA_ARGS__)

static const struct sym_location before_locations[] = {
	{.addr = 0x1010, SERVER, .module_offset = 0x10, NAMED("handle", .offset = 4, .line = 7)},
	{.addr = 0x1020, SERVER, .module_offset = 0x20, NAMED("handle", .offset = 20, .line = 9)},
	{.addr = 0x1030, SERVER, .module_offset = 0x30, NAMED("main", .offset = 3, .line = 70)},
	{.addr = 0x2010, OLD_LIBRARY, .module_offset = 0x10, NAMED("cache_put", .offset = 1)},
	{.addr = 0x2020, OLD_LIBRARY, .module_offset = 0x20, NAMED("cache_get", .offset = 1)},
	{.addr = 0x3010, .module = "[jit]", ONE(.symbol = "Function:~run app.js:3")},
	{.addr = 0x4010, .module = "[anon]", ONE(.symbol = NULL)},
};
static const struct sym_location after_locations[] = {
	{.addr = 0x51010, SERVER, .module_offset = 0x10, NAMED("handle", .offset = 4, .line = 7)},
	{.addr = 0x51020, SERVER, .module_offset = 0x20, NAMED("handle", .offset = 20, .line = 9)},
	{.addr = 0x51030, SERVER, .module_offset = 0x30, NAMED("main", .offset = 3, .line = 70)},
	{.addr = 0x62018, NEW_LIBRARY, .module_offset = 0x18, NAMED("cache_put", .offset = 9)},
	{.addr = 0x62020, NEW_LIBRARY, .module_offset = 0x20, NAMED("cache_new", .offset = 9)},
	{.addr = 0x73010, .module = "[jit]", ONE(.symbol = "Function:~run app.js:3")},
	{.addr = 0x84010, .module = "[anon]", ONE(.symbol = NULL)},
};

static struct process server = {.image = 1, .pid = 100, .comm = (char *)"server"};
static struct process worker = {.image = 2, .pid = 101, .comm = (char *)"wor\x1bker"};
static struct process server_later = {.image = 1, .pid = 200, .comm = (char *)"server"};
static struct process second_later = {.image = 2, .pid = 201, .comm = (char *)"server"};

#define SITE(number, owner, size, cnt, ...)                                                        \
	{                                                                                          \
		.id = (number), .process = (owner), .bytes = (size), .count = (cnt),               \
		.end = STACK_END_COMPLETE, .frames = (const uint64_t[]){__VA_ARGS__},              \
		.frame_cnt = LENGTH(((const uint64_t[]){__VA_ARGS__}))                             \
	}

static struct site before_sites[] = {
	SITE(1, &server, 100, 10, 0x1010, 0x1030), /* grows */
	/* unchanged; differs from site 1 in its line only */
	SITE(2, &server, 64, 4, 0x1020, 0x1030),
	SITE(3, &server, 500, 5, 0x2010, 0x1030), /* shrinks; the library was rebuilt */
	SITE(4, &server, 77, 7, 0x2020, 0x1030),  /* gone */
	SITE(5, &worker, 30, 3, 0x1010, 0x1030),  /* gone, with its process */
	SITE(6, &server, 8, 1, 0x3010, 0x4010, 0x5010),
};
static struct site after_sites[] = {
	SITE(21, &server_later, 64, 4, 0x51020, 0x51030),
	SITE(22, &server_later, 250, 20, 0x51010, 0x51030),
	/* the stack of site 22, in another process */
	SITE(23, &second_later, 50, 2, 0x51010, 0x51030),
	SITE(24, &server_later, 400, 6, 0x62018, 0x51030),
	SITE(25, &server_later, 1000, 1, 0x62020, 0x51030), /* new */
	SITE(26, &server_later, 8, 2, 0x73010, 0x84010, 0x95010),
};

static struct process_tally before_tally = {
	.rss = {.parts = {[RSS_LIVE] = 5 << 20, [RSS_FILES] = 1 << 20}, .arenas = 1}};
static struct process_tally after_tally = {
	.rss = {.parts = {[RSS_LIVE] = 6 << 20, [RSS_PINNED] = 3 << 20, [RSS_FILES] = 1 << 20},
		.arenas = 1}};

static const struct snapshot before =
	SNAPSHOT(before_sites, .tallies = &before_tally, .tally_cnt = 1);
static const struct snapshot after =
	SNAPSHOT(after_sites, .lost[LOSS_UNWIND] = 3, .tallies = &after_tally, .tally_cnt = 1);

struct scene_of_diff {
	struct fake_symbols symbols[2];
	struct diff diff;
};

static void diff_of(const struct options *opts, const struct snapshot *a, const struct snapshot *b,
		    bool same_run, struct scene_of_diff *ret)
{
	struct diff_side sides[2] = {{.name = "a\x1b.mlk", .snap = a}, {.name = "b", .snap = b}};

	ret->symbols[0] = fake_symbols_of(before_locations, LENGTH(before_locations));
	ret->symbols[1] = fake_symbols_of(after_locations, LENGTH(after_locations));
	if (a == b)
		ret->symbols[1] = ret->symbols[0];
	sides[0].symbols = &ret->symbols[0].backend;
	sides[1].symbols = &ret->symbols[1].backend;
	assert_int_equal(diff_init(opts, sides, same_run, &ret->diff), 0);
}

static void check_cnt(const struct diff *diff, size_t new_cnt, size_t grown, size_t shrunk,
		      size_t gone, size_t same)
{
	assert_int_equal(diff->cnt_of[CHANGE_NEW], new_cnt);
	assert_int_equal(diff->cnt_of[CHANGE_GROWN], grown);
	assert_int_equal(diff->cnt_of[CHANGE_SHRUNK], shrunk);
	assert_int_equal(diff->cnt_of[CHANGE_GONE], gone);
	assert_int_equal(diff->cnt_of[CHANGE_NONE], same);
}

static void check_order(enum sort_order order, const uint64_t *ids, size_t cnt)
{
	const struct options opts = {.top = 10, .sort = order};
	struct scene_of_diff scene;

	diff_of(&opts, &before, &after, false, &scene);
	check_cnt(&scene.diff, 1, 2, 1, 2, 1);
	assert_int_equal(scene.diff.shown_cnt, cnt);
	for (size_t i = 0; i < cnt; i++)
		assert_int_equal(scene.diff.sites[i].shown.site->id, ids[i]);
	diff_deinit(&scene.diff);
}

static void orders(void **state)
{
	static const uint64_t by_size[] = {25, 22, 24, 4, 5, 26};
	static const uint64_t by_count[] = {22, 4, 5, 25, 24, 26};
	static const uint64_t by_growth[] = {25, 22, 26, 5, 4, 24};

	check_order(SORT_SIZE, by_size, LENGTH(by_size));
	check_order(SORT_COUNT, by_count, LENGTH(by_count));
	check_order(SORT_GROWTH, by_growth, LENGTH(by_growth));
}

/*
 * Two snapshots of one run are compared by addresses and process ids. Compared in this way,
 * snapshots of two runs have no site in common.
 */
static void one_run(void **state)
{
	const struct options opts = {.top = 2};
	struct scene_of_diff scene;

	diff_of(&opts, &before, &after, true, &scene);
	check_cnt(&scene.diff, 6, 0, 0, 6, 0);
	assert_int_equal(scene.diff.shown_cnt, 2);
	assert_int_equal(scene.diff.site_cnt, 12);
	diff_deinit(&scene.diff);
	diff_of(&opts, &before, &before, true, &scene);
	check_cnt(&scene.diff, 0, 0, 0, 0, 6);
	diff_deinit(&scene.diff);
}

/*
 * A frame whose file has not been read yet has a preliminary offset and no build id. It must still
 * match the same frame after its file was read.
 */
static void named_in_between(void **state)
{
	static const struct sym_location unread[] = {
		{.addr = 0x1010, .module = "/usr/bin/server", .module_offset = 0xf010},
		{.addr = 0x1030, .module = "/usr/bin/server", .module_offset = 0xf030},
	};
	struct site grown[] = {SITE(1, &server, 150, 15, 0x1010, 0x1030),
			       SITE(7, &server, 9, 1, 0x1030)};
	const struct snapshot later = SNAPSHOT(grown);
	struct fake_symbols early = fake_symbols_of(unread, LENGTH(unread));
	struct fake_symbols late = fake_symbols_of(before_locations, LENGTH(before_locations));
	const struct options opts = {.top = 2};
	const struct diff_side sides[2] = {
		{.name = "a", .snap = &before, .symbols = &early.backend},
		{.name = "a", .snap = &later, .symbols = &late.backend}};
	const struct diff_side back[2] = {sides[1], sides[0]};
	struct diff diff;

	assert_int_equal(diff_init(&opts, sides, true, &diff), 0);
	check_cnt(&diff, 1, 1, 0, 5, 0);
	diff_deinit(&diff);
	assert_int_equal(diff_init(&opts, back, true, &diff), 0);
	check_cnt(&diff, 5, 0, 1, 1, 0);
	diff_deinit(&diff);
}

/*
 * A site has only the first of its stack's slab caches. In another run this may be another cache,
 * but the site must match.
 */
static void other_caches(void **state)
{
	const struct options opts = {.top = 2};
	struct site first = {.kind = KIND_SLAB, .origin.cache = "kmalloc-rnd-01-64"};
	struct site second = {.kind = KIND_SLAB, .origin.cache = "kmalloc-rnd-07-256"};
	const struct snapshot a = {.sites = &first, .site_cnt = 1};
	const struct snapshot b = {.sites = &second, .site_cnt = 1};
	struct scene_of_diff scene;

	diff_of(&opts, &a, &b, false, &scene);
	check_cnt(&scene.diff, 0, 0, 0, 0, 1);
	diff_deinit(&scene.diff);
}

#define LINE(number)                                                                               \
	{                                                                                          \
		.module = SYM_SCRIPT,                                                              \
		ONE(.symbol = "py::keep:/srv/app.py", .file = "/srv/app.py", .line = (number))     \
	}

/* A script frame is no address, but a number that differs between runs. */
static const struct sym_location *lookup_line(struct symbol_backend *self, const struct site *site,
					      uint64_t frame)
{
	return &((struct fake_symbols *)self)->locations[frame & ~FRAME_FILE];
}

/* Two lines of one script function are two sites, in one run and in two. */
static void script_lines(void **state)
{
	const struct sym_location first[] = {LINE(7), LINE(9)};
	const struct sym_location second[] = {LINE(9), LINE(7)};
	struct site some[] = {SITE(1, &server, 100, 10, FRAME_FILE | 0),
			      SITE(2, &server, 64, 4, FRAME_FILE | 1)};
	struct site more[] = {SITE(21, &server_later, 64, 4, FRAME_FILE | 0),
			      SITE(22, &server_later, 150, 15, FRAME_FILE | 1)};
	const struct snapshot a = SNAPSHOT(some), b = SNAPSHOT(more);
	struct fake_symbols early = fake_symbols_of(first, LENGTH(first));
	struct fake_symbols late = fake_symbols_of(second, LENGTH(second));
	const struct options opts = {.top = 2};
	const struct diff_side sides[2] = {{.name = "a", .snap = &a, .symbols = &early.backend},
					   {.name = "b", .snap = &b, .symbols = &late.backend}};
	const struct diff_side same[2] = {sides[0], sides[0]};
	struct diff diff;

	early.backend.lookup = late.backend.lookup = lookup_line;
	assert_int_equal(diff_init(&opts, sides, false, &diff), 0);
	check_cnt(&diff, 0, 1, 0, 0, 1);
	diff_deinit(&diff);
	assert_int_equal(diff_init(&opts, same, true, &diff), 0);
	check_cnt(&diff, 0, 0, 0, 0, 2);
	diff_deinit(&diff);
}

static void empty(void **state)
{
	const struct options opts = {.top = 2};
	const struct snapshot none = {0};
	struct scene_of_diff scene;

	diff_of(&opts, &none, &none, false, &scene);
	check_cnt(&scene.diff, 0, 0, 0, 0, 0);
	diff_deinit(&scene.diff);
}

static char *print(uint32_t top, void (*write)(FILE *out, const struct diff *diff))
{
	const struct options opts = {.top = top};
	struct scene_of_diff scene;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	diff_of(&opts, &before, &after, false, &scene);
	write(out, &scene.diff);
	diff_deinit(&scene.diff);
	fclose(out);
	return text;
}

static void as_text(void **state)
{
	cleanup_free char *text = print(5, diff_write_text);

	check_text(text);
	compare("diff", "txt", text);
}

static void as_json(void **state)
{
	cleanup_free char *text = print(10, diff_write_json);

	assert_true(json_lines_are_valid(text));
	compare("diff", "json", text);
}

static void write_page(FILE *out, const struct diff *diff)
{
	assert_int_equal(html_write_diff(out, diff), 0);
}

static void as_page(void **state)
{
	cleanup_free char *page = print(10, write_page);

	compare_page("diff", page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders),           cmocka_unit_test(one_run),
		cmocka_unit_test(other_caches),     cmocka_unit_test(empty),
		cmocka_unit_test(named_in_between), cmocka_unit_test(as_text),
		cmocka_unit_test(as_json),          cmocka_unit_test(as_page),
		cmocka_unit_test(script_lines),
	};

	setenv("TZ", "TST-1", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
