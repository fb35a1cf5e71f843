// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests lists of mapped ranges with examples, and against a model: an array with the site of each
 * page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/memleak.h"
#include "loader/target/mapped_ranges.h"

#define PAGE 4096ULL
#define BASE 0x10000000ULL

static struct range page_range(uint64_t page, uint64_t cnt, uint64_t site)
{
	return (struct range){BASE + page * PAGE,
			      BASE + (page + cnt) * PAGE,
			      site,
			      1,
			      cnt * PAGE,
			      7,
			      0,
			      0,
			      0,
			      false};
}

static void insert_pages(struct ranges *ranges, uint64_t page, uint64_t cnt, uint64_t site)
{
	struct range range = page_range(page, cnt, site);

	assert_int_equal(ranges_insert(ranges, &range), 0);
}

static void unmap_pages(struct ranges *ranges, uint64_t page, uint64_t cnt)
{
	assert_int_equal(ranges_take(ranges, 7, BASE + page * PAGE, cnt * PAGE, false), 0);
	ranges_forget(ranges, 7);
}

static void assert_item(const struct ranges *ranges, size_t i, uint64_t page, uint64_t cnt,
			uint64_t site)
{
	assert_true(i < ranges->cnt);
	assert_int_equal(ranges->items[i].start, BASE + page * PAGE);
	assert_int_equal(ranges->items[i].end, BASE + (page + cnt) * PAGE);
	assert_int_equal(ranges->items[i].site, site);
}

/* At the maximum number of ranges, a range can still replace another one. */
static void test_limit(void **state)
{
	struct range one_more = page_range(2, 1, 9);
	struct ranges ranges;

	ranges_init(&ranges, PAGE, UINT64_MAX);
	for (uint64_t i = RANGES_MAX; i > 0; i--)
		insert_pages(&ranges, 2 * i + 10, 1, i);
	assert_int_equal(ranges.lost, 0);
	assert_int_equal(ranges_insert(&ranges, &one_more), 0);
	assert_int_equal(ranges.lost, 1);
	assert_int_equal(ranges.cnt, RANGES_MAX);
	insert_pages(&ranges, 12, 1, 5);
	assert_item(&ranges, 0, 12, 1, 5);
	assert_int_equal(ranges.cnt, RANGES_MAX);
	ranges_clear(&ranges);
	assert_int_equal(ranges.lost, 1);
	ranges_deinit(&ranges);
}

static void test_reconcile(void **state)
{
	/*
	 * Private anonymous memory: pages 0 to 2 (page 2 has a name), page 6 (a huge page) and
	 * pages 9 to 19. Page 4 is mapped from a file, and page 5 is shared.
	 */
	struct mapping mappings[] = {
		{.start = BASE, .end = BASE + 2 * PAGE, .path = ""},
		{.start = BASE + 2 * PAGE, .end = BASE + 3 * PAGE, .path = "[anon:x]"},
		{.start = BASE + 4 * PAGE, .end = BASE + 5 * PAGE, .file.ino = 1, .path = "/x"},
		{.start = BASE + 5 * PAGE, .end = BASE + 6 * PAGE, .shared = true, .path = ""},
		{.start = BASE + 6 * PAGE,
		 .end = BASE + 7 * PAGE,
		 .file.ino = 1,
		 .path = "/anon_hugepage"},
		{.start = BASE + 9 * PAGE, .end = BASE + 20 * PAGE, .path = ""},
	};
	const struct proc_maps maps = {.mappings = mappings, .cnt = 6};
	struct range late = {BASE + 30 * PAGE, BASE + 31 * PAGE, 9, 1, PAGE, 7, 0, 0, 5, false};
	struct range odd = {BASE + 12 * PAGE, BASE + 12 * PAGE + 100, 4, 1, 100, 7, 0, 0, 0, false};
	struct ranges ranges;

	ranges_init(&ranges, PAGE, UINT64_MAX);
	insert_pages(&ranges, 1, 7, 1);
	insert_pages(&ranges, 8, 3, 2);
	insert_pages(&ranges, 11, 1, 3);
	assert_int_equal(ranges_insert(&ranges, &odd), 0);
	insert_pages(&ranges, 25, 1, 5);
	assert_int_equal(ranges_insert(&ranges, &late), 0);
	assert_int_equal(ranges_reconcile(&ranges, &maps, 5), 0);
	assert_int_equal(ranges.cnt, 6);
	assert_item(&ranges, 0, 1, 2, 1);
	assert_item(&ranges, 1, 6, 1, 1);
	assert_item(&ranges, 2, 9, 2, 2);
	assert_item(&ranges, 3, 11, 1, 3);
	assert_int_equal(ranges.items[4].end, odd.end);
	assert_int_equal(ranges.items[5].site, 9);
	assert_int_equal(ranges_reconcile(&ranges, &maps, 6), 0);
	assert_int_equal(ranges.cnt, 5);
	ranges_deinit(&ranges);
}

static void reconcile(struct ranges *ranges, bool second_has_access)
{
	struct mapping mappings[] = {
		{.start = BASE, .end = BASE + 2 * PAGE, .path = ""},
		{.start = BASE + 2 * PAGE,
		 .end = BASE + 5 * PAGE,
		 .path = "",
		 .readable = second_has_access},
		{.start = BASE + 5 * PAGE, .end = BASE + 20 * PAGE, .path = ""},
	};
	const struct proc_maps maps = {.mappings = mappings, .cnt = 3};

	assert_int_equal(ranges_reconcile(ranges, &maps, 5), 0);
}

static void assert_kind(const struct ranges *ranges, size_t i, uint32_t kind)
{
	assert_int_equal(range_kind(ranges, &ranges->items[i]), kind);
}

/*
 * Parts of reserved address space become accessible and inaccessible again. A mapping that was
 * accessible from the start always counts as memory.
 */
static void test_reserved(void **state)
{
	struct range range = page_range(0, 8, 1);
	struct ranges ranges;

	ranges_init(&ranges, PAGE, 100 * PAGE);
	range.kind = MEMLEAK_KIND_RESERVE;
	range.reserved = true;
	assert_int_equal(ranges_insert(&ranges, &range), 0);
	range = page_range(8, 2, 1);
	range.kind = MEMLEAK_KIND_MMAP;
	range.birth_ns = 2;
	assert_int_equal(ranges_insert(&ranges, &range), 0);
	reconcile(&ranges, true);
	assert_int_equal(ranges.cnt, 4);
	assert_item(&ranges, 1, 2, 3, 1);
	assert_kind(&ranges, 0, MEMLEAK_KIND_RESERVE);
	assert_kind(&ranges, 1, MEMLEAK_KIND_MMAP);
	assert_kind(&ranges, 2, MEMLEAK_KIND_RESERVE);
	assert_kind(&ranges, 3, MEMLEAK_KIND_MMAP);
	assert_true(range_goes_on(&ranges.items[1], &ranges.items[2]));
	assert_false(range_goes_on(&ranges.items[2], &ranges.items[3]));
	unmap_pages(&ranges, 3, 1);
	assert_int_equal(ranges.cnt, 5);
	assert_kind(&ranges, 2, MEMLEAK_KIND_MMAP);
	reconcile(&ranges, false);
	assert_int_equal(ranges.cnt, 3);
	assert_item(&ranges, 0, 0, 3, 1);
	assert_item(&ranges, 1, 4, 4, 1);
	assert_kind(&ranges, 1, MEMLEAK_KIND_RESERVE);
	ranges_deinit(&ranges);
}

/*
 * A mapping larger than the machine's memory counts as a reservation until it is cut to a smaller
 * size.
 */
static void test_beyond_memory(void **state)
{
	struct range range = page_range(0, 101, 1);
	struct ranges ranges;

	ranges_init(&ranges, PAGE, 100 * PAGE);
	range.kind = MEMLEAK_KIND_MMAP;
	assert_int_equal(ranges_insert(&ranges, &range), 0);
	assert_kind(&ranges, 0, MEMLEAK_KIND_RESERVE);
	unmap_pages(&ranges, 0, 1);
	assert_kind(&ranges, 0, MEMLEAK_KIND_MMAP);
	ranges_deinit(&ranges);
}

static void test_front_middle_tail(void **state)
{
	struct ranges ranges;

	ranges_init(&ranges, PAGE, UINT64_MAX);
	insert_pages(&ranges, 0, 10, 1);
	unmap_pages(&ranges, 0, 1);
	assert_item(&ranges, 0, 1, 9, 1);
	unmap_pages(&ranges, 9, 1);
	assert_item(&ranges, 0, 1, 8, 1);
	unmap_pages(&ranges, 4, 2);
	assert_int_equal(ranges.cnt, 2);
	assert_item(&ranges, 0, 1, 3, 1);
	assert_item(&ranges, 1, 6, 3, 1);
	unmap_pages(&ranges, 0, 100);
	assert_int_equal(ranges.cnt, 0);
	ranges_deinit(&ranges);
}

/* A range has the length that the program requested, although the kernel unmaps whole pages. */
static void test_odd_length(void **state)
{
	struct range range = {BASE, BASE + 5000, 1, 1, 5000, 7, 0, 0, 0, false};
	struct ranges ranges;

	ranges_init(&ranges, PAGE, UINT64_MAX);
	assert_int_equal(ranges_insert(&ranges, &range), 0);
	assert_int_equal(ranges.items[0].end - ranges.items[0].start, 5000);
	assert_int_equal(ranges_take(&ranges, 7, BASE + PAGE, 1, false), 0);
	assert_item(&ranges, 0, 0, 1, 1);
	assert_int_equal(ranges.cnt, 1);
	ranges_deinit(&ranges);
}

/*
 * If the kernel refuses a munmap(), no pages may be missing in the list afterwards, and a mapping
 * made meanwhile must not be overwritten.
 */
static void test_refused(void **state)
{
	static const struct {
		uint64_t offset, len;
	} refused[] = {{1, 2 * PAGE}, {PAGE, 0}, {PAGE, UINT64_MAX}};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct ranges ranges;

		ranges_init(&ranges, PAGE, UINT64_MAX);
		insert_pages(&ranges, 0, 2, 1);
		insert_pages(&ranges, 2, 4, 2);
		assert_int_equal(
			ranges_take(&ranges, 7, BASE + refused[i].offset, refused[i].len, false),
			0);
		assert_item(&ranges, 0, 0, 2, 1);
		assert_item(&ranges, 1, 2, 4, 2);
		insert_pages(&ranges, 2, 1, 3);
		assert_int_equal(ranges_untake(&ranges, 7), 0);
		assert_item(&ranges, 1, 2, 1, 3);
		assert_item(&ranges, 2, 3, 3, 2);
		ranges_deinit(&ranges);
	}
}

static void test_replaced(void **state)
{
	struct ranges ranges;

	ranges_init(&ranges, PAGE, UINT64_MAX);
	insert_pages(&ranges, 0, 10, 1);
	insert_pages(&ranges, 3, 2, 2);
	assert_int_equal(ranges.cnt, 3);
	assert_item(&ranges, 0, 0, 3, 1);
	assert_item(&ranges, 1, 3, 2, 2);
	assert_item(&ranges, 2, 5, 5, 1);
	ranges_deinit(&ranges);
}

static void test_failed_unmap(void **state)
{
	struct ranges ranges;

	ranges_init(&ranges, PAGE, UINT64_MAX);
	insert_pages(&ranges, 0, 10, 1);
	assert_int_equal(ranges_take(&ranges, 7, BASE + 2 * PAGE, 3 * PAGE, false), 0);
	assert_int_equal(ranges.cnt, 2);
	/*
	 * Thread 8 unmaps a page between the start and the failure of thread 7's munmap(): that
	 * page must stay unmapped.
	 */
	assert_int_equal(ranges_take(&ranges, 8, BASE + 8 * PAGE, PAGE, false), 0);
	assert_int_equal(ranges_untake(&ranges, 7), 0);
	/* The range is complete again, except for the page that thread 8 has unmapped. */
	assert_int_equal(ranges.cnt, 2);
	assert_item(&ranges, 0, 0, 8, 1);
	assert_item(&ranges, 1, 9, 1, 1);
	ranges_deinit(&ranges);
}

/*
 * A mapping was split by moves, and its two pieces are adjacent again. If a munmap() of both pieces
 * fails, they stay two ranges.
 */
static void test_failed_unmap_of_pieces(void **state)
{
	struct ranges ranges;

	ranges_init(&ranges, PAGE, UINT64_MAX);
	insert_pages(&ranges, 0, 6, 1);
	assert_int_equal(ranges_take(&ranges, 7, BASE + 4 * PAGE, 2 * PAGE, false), 0);
	assert_int_equal(ranges_move(&ranges, 7, BASE + 100 * PAGE, 2 * PAGE, 2), 0);
	assert_int_equal(ranges_take(&ranges, 7, BASE + 100 * PAGE, 2 * PAGE, false), 0);
	assert_int_equal(ranges_move(&ranges, 7, BASE + 4 * PAGE, 2 * PAGE, 2), 0);
	assert_int_equal(ranges.cnt, 2);
	assert_int_equal(ranges_take(&ranges, 7, BASE + 3 * PAGE, 2 * PAGE, false), 0);
	assert_int_equal(ranges_untake(&ranges, 7), 0);
	assert_int_equal(ranges_take(&ranges, 7, BASE + 4 * PAGE, 2 * PAGE, false), 0);
	assert_int_equal(ranges_untake(&ranges, 7), 0);
	assert_int_equal(ranges.cnt, 2);
	assert_item(&ranges, 0, 0, 4, 1);
	assert_item(&ranges, 1, 4, 2, 1);
	ranges_deinit(&ranges);
}

static void test_moved(void **state)
{
	struct ranges ranges;

	ranges_init(&ranges, PAGE, UINT64_MAX);
	insert_pages(&ranges, 0, 4, 1);
	assert_int_equal(ranges_take(&ranges, 7, BASE, 4 * PAGE, false), 0);
	assert_int_equal(ranges_move(&ranges, 7, BASE + 100 * PAGE, 6 * PAGE, 2), 0);
	assert_int_equal(ranges.cnt, 1);
	assert_item(&ranges, 0, 100, 6, 1);
	assert_int_equal(ranges.items[0].birth_ns, 1);
	/* The mapping shrinks in place. */
	assert_int_equal(ranges_take(&ranges, 7, BASE + 100 * PAGE, 6 * PAGE, false), 0);
	assert_int_equal(ranges_move(&ranges, 7, BASE + 100 * PAGE, 2 * PAGE, 2), 0);
	assert_item(&ranges, 0, 100, 2, 1);
	/* With MREMAP_DONTUNMAP, the old range stays mapped. */
	assert_int_equal(ranges_take(&ranges, 7, BASE + 100 * PAGE, 2 * PAGE, true), 0);
	assert_int_equal(ranges_move(&ranges, 7, BASE + 200 * PAGE, 2 * PAGE, 2), 0);
	assert_int_equal(ranges.cnt, 2);
	/* A mapping that is not in the list is moved over one that is. */
	assert_int_equal(ranges_take(&ranges, 7, BASE + 500 * PAGE, PAGE, false), 0);
	assert_int_equal(ranges_move(&ranges, 7, BASE + 200 * PAGE, PAGE, 2), 0);
	assert_int_equal(ranges.cnt, 2);
	assert_item(&ranges, 1, 201, 1, 1);
	ranges_deinit(&ranges);
}

/*
 * Sampling depends on the size of the whole mapping. Its pieces keep this size when they are cut,
 * moved or grown, and when a munmap() fails.
 */
static void test_pieces_know_the_whole(void **state)
{
	struct ranges ranges;

	ranges_init(&ranges, PAGE, UINT64_MAX);
	insert_pages(&ranges, 0, 16, 1);
	unmap_pages(&ranges, 4, 2);
	assert_int_equal(ranges_take(&ranges, 7, BASE, PAGE, false), 0);
	assert_int_equal(ranges_untake(&ranges, 7), 0);
	assert_int_equal(ranges_take(&ranges, 7, BASE + 6 * PAGE, 10 * PAGE, false), 0);
	assert_int_equal(ranges_move(&ranges, 7, BASE + 100 * PAGE, 50 * PAGE, 2), 0);
	assert_int_equal(ranges.cnt, 2);
	assert_item(&ranges, 0, 0, 4, 1);
	assert_item(&ranges, 1, 100, 50, 1);
	assert_int_equal(ranges.items[0].mapped_size, 16 * PAGE);
	assert_int_equal(ranges.items[1].mapped_size, 16 * PAGE);
	ranges_deinit(&ranges);
}

/* Computing with addresses and lengths of the traced program must not overflow. */
static void test_absurd(void **state)
{
	struct ranges ranges;
	struct range wrapped = {UINT64_MAX - 10, 5, 1, 1, 16, 7, 0, 0, 0, false};

	ranges_init(&ranges, PAGE, UINT64_MAX);
	insert_pages(&ranges, 0, 1, 1);
	assert_int_equal(ranges_insert(&ranges, &wrapped), 0);
	assert_int_equal(ranges.cnt, 1);
	assert_int_equal(ranges_take(&ranges, 7, BASE + PAGE, UINT64_MAX, false), 0);
	assert_int_equal(ranges.cnt, 1);
	assert_int_equal(ranges_take(&ranges, 7, 0, 0, false), 0);
	assert_int_equal(ranges_move(&ranges, 7, UINT64_MAX - 1, UINT64_MAX, 2), 0);
	assert_int_equal(ranges.cnt, 1);
	ranges_deinit(&ranges);
}

#define MODEL_PAGES 64

static void model_fill(uint64_t *model, uint64_t page, uint64_t cnt, uint64_t site)
{
	for (uint64_t i = page; i < page + cnt && i < MODEL_PAGES; i++)
		model[i] = site;
}

static void model_move(uint64_t *model, uint64_t from, uint64_t to, uint64_t old, uint64_t new)
{
	uint64_t copy[MODEL_PAGES];
	uint64_t last = model[from + old - 1];

	memcpy(copy, model, sizeof(copy));
	model_fill(model, from, old, 0);
	for (uint64_t i = 0; i < new; i++)
		model[to + i] = i < old ? copy[from + i] : last;
}

static void assert_model(const struct ranges *ranges, const uint64_t *model)
{
	uint64_t seen[MODEL_PAGES] = {0};

	for (size_t i = 0; i < ranges->cnt; i++) {
		const struct range *range = &ranges->items[i];

		assert_true(range->start < range->end);
		assert_true(i == 0 || ranges->items[i - 1].end <= range->start);
		for (uint64_t page = (range->start - BASE) / PAGE;
		     page < (range->end - BASE) / PAGE; page++)
			seen[page] = range->site;
	}
	assert_memory_equal(seen, model, sizeof(seen));
}

static void random_step(struct ranges *ranges, uint64_t *model, uint64_t site)
{
	uint64_t page = (uint64_t)rand() % 32, cnt = 1 + (uint64_t)rand() % 8;
	uint64_t to = 40 + (uint64_t)rand() % 8, grown = 1 + (uint64_t)rand() % 8;

	switch (rand() % 4) {
	case 0:
		insert_pages(ranges, page, cnt, site);
		model_fill(model, page, cnt, site);
		break;
	case 1:
		unmap_pages(ranges, page, cnt);
		model_fill(model, page, cnt, 0);
		break;
	case 2:
		assert_int_equal(ranges_take(ranges, 7, BASE + page * PAGE, cnt * PAGE, false), 0);
		assert_int_equal(ranges_untake(ranges, 7), 0);
		break;
	case 3:
		assert_int_equal(ranges_take(ranges, 7, BASE + page * PAGE, cnt * PAGE, false), 0);
		assert_int_equal(ranges_move(ranges, 7, BASE + to * PAGE, grown * PAGE, 2), 0);
		model_move(model, page, to, cnt, grown);
		break;
	}
}

static void test_model(void **state)
{
	uint64_t model[MODEL_PAGES] = {0};
	struct ranges ranges;

	srand(1);
	ranges_init(&ranges, PAGE, UINT64_MAX);
	for (uint64_t i = 1; i <= 20000; i++) {
		random_step(&ranges, model, i);
		assert_model(&ranges, model);
	}
	ranges_deinit(&ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_reconcile),
		cmocka_unit_test(test_front_middle_tail),
		cmocka_unit_test(test_odd_length),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_failed_unmap),
		cmocka_unit_test(test_failed_unmap_of_pieces),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_pieces_know_the_whole),
		cmocka_unit_test(test_reserved),
		cmocka_unit_test(test_beyond_memory),
		cmocka_unit_test(test_absurd),
		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
