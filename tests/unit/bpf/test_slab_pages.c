// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the removal of the blocks of a freed slab page, compiled as native code. The kernel frees
 * such pages at times that no test can choose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/bpf.h>
#include <stdbool.h>

/* Replaces the definitions in bpf/kernel_tp/event_stack.bpf.h. */
#define BPF_KERNEL_TP_EVENT_STACK_BPF_H
#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define __noinline static __attribute__((noinline, unused))

#include "bpf/kernel.h"
#include "bpf/memleak.h"

#define PAGE UINT64_C(0x5000)
#define DIRECT (UINT64_C(1) << 40)
#define OBJECTS_MAX 2048

static const struct memleak_kernel_config kernel_config = {.page_shift = 12};
static uint64_t first, distance;        /* address of the first object, and distance of objects */
static unsigned int taken[OBJECTS_MAX]; /* for each object, number of attempts to take its block */
static unsigned int strays, gone;

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	return NULL;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags)
{
	return 0;
}

static void count(uint32_t which, int64_t by)
{
	gone += which == MEMLEAK_STAT_GONE_WITH_PAGE;
}

static bool block__take(const struct memleak_block_key *key, struct memleak_block *ret)
{
	uint64_t at = (key->addr - first) / distance;

	if (key->domain == MEMLEAK_DOMAIN_PAGE)
		return false;
	if (key->addr < first || (key->addr - first) % distance || at >= OBJECTS_MAX)
		strays++;
	else
		taken[at]++;
	return true;
}

#include "bpf/kernel_tp/slab_pages.bpf.h"

static void assert_all_taken(uint64_t len, uint32_t size, uint32_t phase, size_t cnt)
{
	memset(taken, 0, sizeof(taken));
	strays = gone = 0;
	first = PAGE + DIRECT + phase;
	distance = size;
	slab_page__give_back(PAGE, len, size, phase);
	assert_int_equal(strays, 0);
	assert_int_equal(gone, cnt);
	for (size_t i = 0; i < OBJECTS_MAX; i++)
		assert_int_equal(taken[i], i < cnt);
}

/* The block of each object of the slab is removed once, also behind the first SLAB_STEP. */
static void all_objects(void **state)
{
	direct_map = DIRECT;
	assert_all_taken(4096, 4096, 0, 1);
	assert_all_taken(4096, 128, 0, SLAB_STEP);
	assert_all_taken(4096, 96, 0, 43);
	assert_all_taken(4096, 64, 0, 64);
	assert_all_taken(4096, 32, 0, 128);
	assert_all_taken(8192, 8, 0, 1024);
	assert_all_taken(32768, 32, 0, 1024);
	assert_all_taken(16384, 192, 64, 85);
}

/* Without the direct mapping or the distance of objects, no object is known. */
static void unknown_objects(void **state)
{
	direct_map = 0;
	assert_all_taken(4096, 64, 0, 0);
	direct_map = DIRECT;
	strays = gone = 0;
	distance = 64;
	slab_page__give_back(PAGE, 4096, 0, 0);
	assert_int_equal(gone, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_objects),
		cmocka_unit_test(unknown_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
