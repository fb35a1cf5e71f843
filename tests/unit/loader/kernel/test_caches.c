// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the estimate of missed frees: if a slab cache has grown by fewer objects than blocks are
 * outstanding, the difference was freed unnoticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "loader/kernel/caches.h"

#define TITLES                                                                                     \
	"slabinfo - version: 2.1\n"                                                                \
	"# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : "      \
	"tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> "      \
	"<sharedavail>\n"
#define TAIL " 1 : tunables    0    0    0 : slabdata      1      1      0\n"

static struct slab_caches read_text(const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct slab_caches ret = {0};

	assert_non_null(file);
	assert_int_equal(slab_caches_read(file, &ret), 0);
	fclose(file);
	return ret;
}

static void test_read(void **state)
{
	struct slab_caches got = read_text(TITLES "task_struct 9 12 5000 6" TAIL "odd line\n"
						  "kmalloc-64  21952  30000     64   64" TAIL);

	assert_int_equal(got.cnt, 2);
	assert_string_equal(got.caches[0].name, "kmalloc-64");
	assert_int_equal(got.caches[0].used, 21952);
	assert_int_equal(got.caches[0].object_bytes, 64);
	assert_int_equal(got.caches[0].slab_objects, 64);
	assert_string_equal(got.caches[1].name, "task_struct");
	slab_caches_deinit(&got);
}

static uint64_t reconcile(const char *before, const char *now, struct cache_user *users, size_t cnt)
{
	struct slab_caches was = read_text(before), is = read_text(now);
	uint64_t unseen = slab_caches_reconcile(&was, &is, 2, users, cnt);

	slab_caches_deinit(&was);
	slab_caches_deinit(&is);
	return unseen;
}

/*
 * 2,689 blocks are outstanding but the cache grew by only 1,266 objects, so 1,423 frees were
 * missed. They may belong to any of the sites.
 */
static void test_grown_by_less(void **state)
{
	struct cache_user users[] = {
		{.site = 1, .cache = "maple_node", .bytes = 600 * 256, .count = 600, .shown = 600},
		{.site = 2,
		 .cache = "maple_node",
		 .bytes = 2089 * 256,
		 .count = 2089,
		 .shown = 2000},
	};

	assert_int_equal(reconcile(TITLES "maple_node 1000 1000 256 16" TAIL,
				   TITLES "maple_node 2266 3000 256 16" TAIL, users, 2),
			 1423);
	assert_int_equal(users[0].unseen_frees, 600);
	assert_int_equal(users[1].unseen_frees, 1423);
}

/* The cache grew by more objects than the site has blocks, so no frees were missed. */
static void test_grown_by_as_much(void **state)
{
	struct cache_user user = {
		.cache = "filp", .bytes = 5000 * 192, .count = 5000, .shown = 5000};

	assert_int_equal(reconcile(TITLES "filp 1000 1000 192 21" TAIL,
				   TITLES "filp 6500 7000 192 21" TAIL, &user, 1),
			 0);
	assert_int_equal(user.unseen_frees, 0);
}

/*
 * The cache has not grown. CPUs keep free objects, which slabinfo counts as used: all 300 blocks
 * may be such objects, so between 0 and 300 frees were missed.
 */
static void test_slack(void **state)
{
	struct cache_user user = {.cache = "epi", .bytes = 300 * 128, .count = 300, .shown = 300};

	assert_int_equal(reconcile(TITLES "epi 1000 1000 128 32" TAIL,
				   TITLES "epi 1000 1000 128 32" TAIL, &user, 1),
			 0);
	assert_int_equal(user.unseen_frees, 300);
}

/*
 * The cache shrinks because objects from before tracing are freed. At most as many missed frees are
 * reported as there are blocks.
 */
static void test_shrunk(void **state)
{
	struct cache_user user = {
		.cache = "epi", .bytes = 3000 * 128, .count = 3000, .shown = 2500};

	assert_int_equal(reconcile(TITLES "epi 90000 90000 128 32" TAIL,
				   TITLES "epi 10 10 128 32" TAIL, &user, 1),
			 2500);
	assert_int_equal(user.unseen_frees, 2500);
}

/*
 * A site with several caches has the name of one of them. If that is a kmalloc cache, the site's
 * blocks are compared with the growth of all kmalloc caches, otherwise with that of all caches.
 */
static void test_several(void **state)
{
	static const char before[] = TITLES "kmalloc-64 0 0 64 64" TAIL
					    "kmalloc-cg-1k 0 0 1024 16" TAIL "TCP 0 0 2048 16" TAIL;
	static const char now[] =
		TITLES "kmalloc-64 1000 0 64 64" TAIL "kmalloc-cg-1k 4000 0 1024 16" TAIL
		       "TCP 3000 0 2048 16" TAIL;
	struct cache_user users[] = {
		{.site = 1, .cache = "kmalloc-64", .bytes = 64000, .count = 1000, .shown = 1000},
		{.site = 2,
		 .several_caches = true,
		 .cache = "kmalloc-cg-1k",
		 .bytes = 4000 * 1024,
		 .count = 4000,
		 .shown = 4000},
		{.site = 3,
		 .several_caches = true,
		 .cache = "TCP",
		 .bytes = 9000 * 2048,
		 .count = 9000,
		 .shown = 9000},
	};

	assert_int_equal(reconcile(before, now, users, 3), 6000);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(users[i].unseen_frees, users[i].site == 3 ? 6000 : 0);
}

/* There is no estimate for a cache that is not in slabinfo. */
static void test_unknown(void **state)
{
	struct cache_user user = {.cache = "gone", .bytes = 9000, .count = 900, .shown = 900};

	assert_int_equal(reconcile(TITLES, TITLES "other 5 5 64 64" TAIL, &user, 1), 0);
	assert_int_equal(user.unseen_frees, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_grown_by_less),
		cmocka_unit_test(test_grown_by_as_much),
		cmocka_unit_test(test_slack),
		cmocka_unit_test(test_shrunk),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
