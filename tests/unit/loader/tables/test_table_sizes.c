// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the sizes of BPF maps: sizes set by options are used unchanged, and all other sizes are
 * chosen to fit into memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bpf/memleak.h"
#include "loader/tables/table_sizes.h"

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)
#define DEPTH MEMLEAK_DEFAULT_STACK_DEPTH

static const struct options plain;

static struct memory_limit limit(uint64_t machine, uint64_t left)
{
	return (struct memory_limit){machine, left, left};
}

static void shares(void **state)
{
	const struct options given = {.max_memory = 7 * MIB};
	struct memory_limit big = limit(40 * GIB, UINT64_MAX), small = limit(GIB, UINT64_MAX);
	struct memory_limit cgroup = limit(40 * GIB, table_least_memory(&plain) + 64 * MIB);
	struct memory_limit none = limit(40 * GIB, MIB);

	assert_int_equal(table_memory(&plain, &big), 4 * GIB);
	assert_int_equal(table_memory(&plain, &small), 256 * MIB);
	assert_int_equal(table_memory(&plain, &cgroup), 32 * MIB);
	assert_int_equal(table_memory(&plain, &none), 0);
	assert_int_equal(table_memory(&given, &none), 7 * MIB);
}

/*
 * Returns the memory used by all entries. The size of each entry is rounded up as by the kernel's
 * allocator.
 */
static uint64_t bytes_of(const struct table_sizes *sizes)
{
	return sizes->blocks * 128ULL + sizes->stacks * 2048ULL + sizes->sites * 192ULL;
}

static void fit(void **state)
{
	for (uint64_t memory = 32 * MIB; memory < 4 * GIB; memory += memory / 3) {
		struct table_sizes sizes = table_sizes_choose(&plain, memory, DEPTH, true);

		assert_true(bytes_of(&sizes) <= memory);
		assert_true(bytes_of(&sizes) >= memory / 4);
		assert_true(sizes.sites >= sizes.stacks);
	}
}

static void bounds(void **state)
{
	struct table_sizes least = table_sizes_choose(&plain, 0, DEPTH, true);
	struct table_sizes most = table_sizes_choose(&plain, 1ULL << 50, DEPTH, true);
	struct table_sizes at_once = table_sizes_choose(&plain, 1ULL << 50, DEPTH, false);

	assert_true(least.blocks && least.stacks && least.sites > least.stacks);
	assert_int_equal(most.blocks, MEMLEAK_MAX_ALLOCS_CAP);
	assert_int_equal(most.stacks, 1 << 20);
	assert_int_equal(at_once.blocks, 1000000);
	assert_int_equal(at_once.stacks, 16384);
}

static void given_ones_stay(void **state)
{
	const struct options opts = {.max_allocs = 7, .stack_storage_size = 3};
	struct table_sizes sizes = table_sizes_choose(&opts, GIB, DEPTH, true);

	assert_int_equal(sizes.blocks, 7);
	assert_int_equal(sizes.stacks, 3);
	assert_int_equal(sizes.sites, 3 * 16 + 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),
		cmocka_unit_test(fit),
		cmocka_unit_test(bounds),
		cmocka_unit_test(given_ones_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
