// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests reading /proc/allocinfo, and finding the slab caches and lines of code that have grown
 * most.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/kernel/allocinfo.h"
#include "loader/kernel/growths.h"

#define KIB 1024ULL
#define MIB (1024 * KIB)

static struct named_sizes read_text(const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct named_sizes ret = {0};

	assert_non_null(file);
	assert_int_equal(allocinfo_read(file, &ret), 0);
	fclose(file);
	named_sizes_sort(&ret);
	return ret;
}

static void assert_size(const struct named_sizes *sizes, size_t at, const char *name,
			uint64_t bytes)
{
	assert_true(at < sizes->cnt);
	assert_string_equal(sizes->items[at].name, name);
	assert_int_equal(sizes->items[at].bytes, bytes);
}

/* A function in a header has a line for each file that includes it: their sizes are added. */
static void test_allocinfo(void **state)
{
	struct named_sizes got =
		read_text("allocinfo - version: 2.0\n"
			  "#     <size>  <calls> <tag info>\n"
			  "           0        0 init/main.c:1314 func:do_initcalls\n"
			  "       12288        3 fs/fuse/dev.c:83 [fuse] func:fuse_request_alloc\n"
			  "        4096        1 include/linux/mm.h:1 func:get_zeroed_page\n"
			  "        8192        2 fs/dcache.c:1683 func:__d_alloc accurate:no\n"
			  "          16        1 include/linux/mm.h:1 func:get_zeroed_page\n");

	assert_int_equal(got.cnt, 3);
	assert_size(&got, 0, "fs/dcache.c:1683 __d_alloc", 8192);
	assert_size(&got, 1, "fs/fuse/dev.c:83 [fuse] fuse_request_alloc", 12288);
	assert_size(&got, 2, "include/linux/mm.h:1 get_zeroed_page", 4112);
	named_sizes_deinit(&got);
}

static void test_bad_lines(void **state)
{
	struct named_sizes got = read_text("\n \n4096\n4096 1\n4096 1 \n4096 1 func:f\n"
					   "4096 x fs/a.c:1 func:f\n-4096 1 fs/a.c:1 func:f\n"
					   "4096 1 fs/a.c:1 f\n4096 1 fs/b.c:2 func:\n"
					   "1 1 fs/c.c:3 func:last");

	assert_int_equal(got.cnt, 1);
	assert_size(&got, 0, "fs/c.c:3 last", 1);
	named_sizes_deinit(&got);
}

static void add(struct named_sizes *sizes, const char *name, uint64_t bytes)
{
	assert_int_equal(named_sizes_add(sizes, name, bytes), 0);
}

static void assert_growth(const struct kernel_growth *growth, const char *name, uint64_t bytes,
			  uint64_t grown_bytes)
{
	assert_string_equal(growth->name, name);
	assert_int_equal(growth->bytes, bytes);
	assert_int_equal(growth->grown_bytes, grown_bytes);
}

/* A name that is new has grown by its whole size. A name that shrank or is gone has not grown. */
static void test_grown(void **state)
{
	struct named_sizes before = {0}, now = {0};
	struct kernel_growth got[KERNEL_GROWTHS_MAX];

	add(&before, "shrunk", 9 * MIB);
	add(&before, "gone", 5 * MIB);
	add(&before, "dentry", 3 * MIB);
	add(&now, "new", MIB);
	add(&now, "dentry", 7 * MIB);
	add(&now, "dentry", 2 * MIB);
	add(&now, "shrunk", 8 * MIB);
	named_sizes_sort(&before);
	named_sizes_sort(&now);
	assert_int_equal(named_sizes_grown(&before, &now, got), 2);
	assert_growth(&got[0], "dentry", 9 * MIB, 6 * MIB);
	assert_growth(&got[1], "new", MIB, MIB);
	named_sizes_deinit(&before);
	/* No growth is known if the sizes could not be read when tracing began. */
	assert_int_equal(named_sizes_grown(&before, &now, got), 0);
	named_sizes_deinit(&now);
}

/* Growth below 64 KiB, or below 1 % of the largest growth, is left out. */
static void test_floors(void **state)
{
	struct named_sizes before = {0}, now = {0};
	struct kernel_growth got[KERNEL_GROWTHS_MAX];

	add(&before, "a", 1);
	add(&now, "a", 64 * KIB);
	add(&now, "b", 64 * KIB);
	named_sizes_sort(&now);
	assert_int_equal(named_sizes_grown(&before, &now, got), 1);
	assert_string_equal(got[0].name, "b");
	add(&now, "c", 20 * MIB);
	add(&now, "d", 20 * MIB / 100);
	named_sizes_sort(&now);
	assert_int_equal(named_sizes_grown(&before, &now, got), 2);
	assert_string_equal(got[0].name, "c");
	assert_string_equal(got[1].name, "d");
	named_sizes_deinit(&before);
	named_sizes_deinit(&now);
}

/* If there are too many growths, the largest are returned, sorted by size. */
static void test_most(void **state)
{
	struct named_sizes before = {0}, now = {0};
	struct kernel_growth got[KERNEL_GROWTHS_MAX];
	char name[16];

	add(&before, "x", 1);
	for (unsigned int i = 0; i < 3 * KERNEL_GROWTHS_MAX; i++) {
		snprintf(name, sizeof(name), "cache-%02u", i);
		add(&now, name, (1 + i * 7 % (3 * KERNEL_GROWTHS_MAX)) * MIB);
	}
	named_sizes_sort(&now);
	assert_int_equal(named_sizes_grown(&before, &now, got), KERNEL_GROWTHS_MAX);
	for (size_t i = 0; i < KERNEL_GROWTHS_MAX; i++)
		assert_int_equal(got[i].grown_bytes, (3 * KERNEL_GROWTHS_MAX - i) * MIB);
	named_sizes_deinit(&before);
	named_sizes_deinit(&now);
}

/* The kernel may not say whether a slab cache can be reclaimed. */
static void test_unknown_reclaim(void **state)
{
	struct kernel_sizes before = {0}, now = {0};
	struct snapshot snap = {0};

	add(&before.caches, "no such cache", MIB);
	add(&now.caches, "no such cache", 2 * MIB);
	assert_int_equal(kernel_sizes_compare(&before, &now, &snap), 0);
	assert_int_equal(snap.kernel_growth_cnt, 1);
	assert_int_equal(snap.kernel_growths[0].reclaim, RECLAIM_UNKNOWN);
	kernel_sizes_deinit(&before);
	kernel_sizes_deinit(&now);
	snapshot_deinit(&snap);
}

/* It is known whether slab caches can be reclaimed, but not for lines of code. */
static void test_known_reclaim(void **state)
{
	struct kernel_sizes before = {0}, now = {0};
	struct snapshot snap = {0};

	if (access("/sys/kernel/slab/dentry/reclaim_account", R_OK) ||
	    access("/sys/kernel/slab/task_struct/reclaim_account", R_OK))
		skip();
	add(&now.caches, "dentry", 2 * MIB);
	add(&now.caches, "task_struct", MIB);
	add(&before.caches, "dentry", 1);
	add(&before.caches, "task_struct", 1);
	add(&now.lines, "dentry", 2 * MIB);
	add(&before.lines, "dentry", 1);
	assert_int_equal(kernel_sizes_compare(&before, &now, &snap), 0);
	assert_int_equal(snap.kernel_growth_cnt, 3);
	assert_int_equal(snap.kernel_growths[0].reclaim, RECLAIM_YES);
	assert_int_equal(snap.kernel_growths[1].reclaim, RECLAIM_NO);
	assert_int_equal(snap.kernel_growths[2].reclaim, RECLAIM_UNKNOWN);
	kernel_sizes_deinit(&before);
	kernel_sizes_deinit(&now);
	snapshot_deinit(&snap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocinfo),     cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_grown),         cmocka_unit_test(test_floors),
		cmocka_unit_test(test_most),          cmocka_unit_test(test_unknown_reclaim),
		cmocka_unit_test(test_known_reclaim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
