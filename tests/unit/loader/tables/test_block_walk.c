// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the sites of snapshots, and which options collect the allocation times of blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader/tables/block_walk.h"

static bool collects_births(const struct options *opts)
{
	struct block_walker walker = {.opts = opts};
	struct block_walk walk;
	struct snapshot snap;

	block_walk_begin(&walker, 1, &walk, &snap);
	return walker.sites.has_births;
}

/*
 * Allocation times are collected for HTML reports, and for recordings, which may become HTML
 * reports.
 */
static void births_for_pages(void **state)
{
	assert_false(collects_births(&(struct options){.format = FORMAT_TEXT}));
	assert_true(collects_births(&(struct options){.format = FORMAT_HTML}));
	assert_true(collects_births(&(struct options){.listen.len = 1}));
	assert_true(collects_births(&(struct options){.record = "run.mlk"}));
	assert_false(collects_births(&(struct options){
		.format = FORMAT_HTML, .record = "run.mlk", .combined_only = true}));
}

#define T0_NS 5000000000ULL

static bool own_all(void *arg, uint32_t image, struct block_owner *ret)
{
	*ret = (struct block_owner){0};
	return true;
}

/* Adds a block of 10 bytes to a site. */
static void add(struct block_walk *walk, uint64_t site, uint64_t birth_ns)
{
	const struct block_owner owner = {0};
	const struct block block = {.addr = 16 * birth_ns, .size = 10};

	assert_int_equal(block_walk_add(walk, &owner, site, &block, birth_ns), 0);
}

static const struct site *find(const struct snapshot *snap, uint64_t id)
{
	for (size_t i = 0; i < snap->site_cnt; i++)
		if (snap->sites[i].id == id)
			return &snap->sites[i];
	fail_msg("no site %d", (int)id);
	return NULL;
}

/*
 * Site 2 has only a block that is too young. Site 3 is joined with site 4. All sums begin at 0 in
 * each walk.
 */
static void check_walk(struct block_walker *walker)
{
	const size_t old = age_class(T0_NS - 1), young = age_class(T0_NS / 2);
	struct block_walk walk;
	struct snapshot snap;
	struct site_entry *third;
	int blocks_of[5] = {0};

	block_walk_begin(walker, T0_NS, &walk, &snap);
	add(&walk, 2, T0_NS + 1);
	add(&walk, 3, 1);
	add(&walk, 4, T0_NS / 2);
	add(&walk, 1, 1);
	add(&walk, 1, T0_NS / 2);
	third = site_table_get(&walker->sites, 3);
	third->joined = site_table_get(&walker->sites, 4);
	site_table_join(&walker->sites, third->joined, third);
	assert_int_equal(block_walk_fill(&walk, &snap), 0);
	assert_int_equal(block_walk_end(&walk, 0, &snap), 0);
	assert_int_equal(snap.site_cnt, 2);
	for (uint64_t id = 1; id <= 4; id += 3) {
		const struct site *site = find(&snap, id);

		assert_int_equal(site->bytes, 20);
		assert_int_equal(site->ages.count[old], 1);
		assert_int_equal(site->ages.bytes[young], 10);
	}
	for (size_t i = 0; i < snap.block_cnt; i++)
		blocks_of[snap.sites[snap.blocks[i].site].id]++;
	assert_int_equal(blocks_of[1], 2);
	assert_int_equal(blocks_of[4], 2);
	assert_int_equal(snap.block_cnt, 4);
	snapshot_deinit(&snap);
}

static void sites_of_walks(void **state)
{
	const struct options opts = {.show_allocs = true};
	struct block_walker walker = {.opts = &opts, .owner = own_all, .sums_left_out = true};

	check_walk(&walker);
	check_walk(&walker);
	site_table_deinit(&walker.sites);
}

/* Without blocks, a snapshot has no sites. */
static void no_sites(void **state)
{
	const struct options opts = {0};
	struct block_walker walker = {.opts = &opts, .owner = own_all};
	struct block_walk walk;
	struct snapshot snap;

	block_walk_begin(&walker, T0_NS, &walk, &snap);
	assert_int_equal(block_walk_fill(&walk, &snap), 0);
	assert_int_equal(block_walk_end(&walk, 0, &snap), 0);
	assert_int_equal(snap.site_cnt, 0);
	assert_non_null(snap.sites);
	snapshot_deinit(&snap);
	site_table_deinit(&walker.sites);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(births_for_pages),
		cmocka_unit_test(sites_of_walks),
		cmocka_unit_test(no_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
