// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests dividing the pages of heaps into live, pinned, trimmable and top, and parsing smaps. */
#include "proof/heap_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proof/smaps.h"

#define PAGE 4096U
#define HEAP 0x10000U

struct sums {
	uint64_t live;
	uint64_t rest[RSS_PART_CNT];
	uint64_t last;
	size_t owners;
	uint64_t pinned[3]; /* indexed by owner number */
};

static void add_page(void *arg, const struct heap_page *page)
{
	struct sums *sums = arg;

	assert_int_equal(page->addr % PAGE, 0);
	assert_true(page->addr > sums->last);
	assert_true(page->live_bytes <= PAGE);
	sums->last = page->addr;
	sums->live += page->live_bytes;
	sums->rest[page->rest] += PAGE - page->live_bytes;
	sums->owners += page->owner_cnt;
	for (size_t i = 0; page->rest == RSS_PINNED && i < page->owner_cnt; i++)
		sums->pinned[page->owners[i]] += (PAGE - page->live_bytes) / page->owner_cnt;
}

/* Adds a chunk of `bytes` bytes with its header. Returns its end. */
static uint64_t add(struct heap_pages *pages, uint64_t at, uint64_t bytes, enum chunk_state state,
		    uint32_t owner)
{
	const struct chunk chunk = {.addr = at + 16, .size = bytes - 8, .state = state};

	heap_pages_add(pages, &chunk, owner);
	return at + bytes;
}

static void parts_of_pages(void **state)
{
	struct sums sums = {0};
	struct heap_pages pages = {.page_size = PAGE, .visit = add_page, .arg = &sums};
	const struct chunk end = {.addr = HEAP + 10 * PAGE, .size = 3 * PAGE, .state = CHUNK_OWN};
	uint64_t at = HEAP;

	(void)state;
	at = add(&pages, at, PAGE, CHUNK_USED, 1);
	at = add(&pages, at, PAGE / 2, CHUNK_FREE, HEAP_PAGE_NO_OWNER);
	at = add(&pages, at, PAGE / 2, CHUNK_USED, 2);
	/* The page with this chunk's header cannot be trimmed. */
	at = add(&pages, at, 4 * PAGE, CHUNK_FREE, HEAP_PAGE_NO_OWNER);
	at = add(&pages, at, 4 * PAGE, CHUNK_USED, 1);
	heap_pages_add(&pages, &end, HEAP_PAGE_NO_OWNER);
	heap_pages_end(&pages);
	assert_int_equal(sums.live, PAGE + PAGE / 2 + 4 * PAGE);
	assert_int_equal(sums.rest[RSS_PINNED], PAGE / 2 + PAGE);
	assert_int_equal(sums.rest[RSS_TRIMMABLE], 3 * PAGE);
	assert_int_equal(sums.rest[RSS_TOP], 3 * PAGE);
	assert_int_equal(sums.last, HEAP + 12 * PAGE);
	assert_int_equal(sums.owners, 1 + 1 + 4);
	assert_int_equal(sums.pinned[1], 0);
	assert_int_equal(sums.pinned[2], PAGE / 2);
}

/* Pages completely in a gap count as unread. */
static void pages_of_gap(void **state)
{
	struct sums sums = {0};
	struct heap_pages pages = {.page_size = PAGE, .visit = add_page, .arg = &sums};
	const struct chunk gap = {HEAP + PAGE / 2, 3 * PAGE, CHUNK_UNREAD};

	(void)state;
	add(&pages, HEAP, PAGE / 2, CHUNK_USED, 1);
	heap_pages_add(&pages, &gap, HEAP_PAGE_NO_OWNER);
	add(&pages, HEAP + 3 * PAGE + PAGE / 2, PAGE / 2, CHUNK_USED, 1);
	heap_pages_end(&pages);
	assert_int_equal(sums.live, PAGE);
	assert_int_equal(sums.rest[RSS_UNREAD], 2 * PAGE);
	assert_int_equal(sums.rest[RSS_PINNED], PAGE);
}

/* The free bytes of a page are charged to all blocks on the page in equal parts. */
static void pinned_by_several(void **state)
{
	struct sums sums = {0};
	struct heap_pages pages = {.page_size = PAGE, .visit = add_page, .arg = &sums};
	uint64_t at = HEAP;

	(void)state;
	at = add(&pages, at, 1024, CHUNK_USED, 1);
	at = add(&pages, at, 1024, CHUNK_FREE, HEAP_PAGE_NO_OWNER);
	at = add(&pages, at, 512, CHUNK_USED, 1);
	at = add(&pages, at, 1024, CHUNK_FREE, HEAP_PAGE_NO_OWNER);
	at = add(&pages, at, 512, CHUNK_USED, 2);
	for (size_t i = 0; i < 1024; i++)
		at = add(&pages, at, 32, CHUNK_USED, 0);
	heap_pages_end(&pages);
	assert_int_equal(sums.pinned[1], 2048 / 3 * 2);
	assert_int_equal(sums.pinned[2], 2048 / 3);
	assert_int_equal(sums.pinned[0], 0);
}

static void sizes_of_mappings(void **state)
{
	static const char text[] =
		"1000-3000 r-xp 00000000 fe:00 7                          /bin/x\n"
		"Size:                  8 kB\n"
		"Rss:                   4 kB\n"
		"VmFlags: rd ex mr mw me\n"
		"3000-9000 rw-p 00000000 00:00 0 \n"
		"Rss:                  20 kB\n"
		"AnonHugePages:         8 kB\n"
		"Swap:                 12 kB\n"
		"SwapPss:               6 kB\n"
		"Rss:\n"
		"nonsense\n"
		"a000-b000 rw-p 00000000 00:00 0                          [heap]\n"
		"AnonHugePages:        16 kB\n"
		"Rss: 99999999999999999999999999 kB";
	struct smaps smaps;

	(void)state;
	assert_int_equal(smaps_parse(text, strlen(text), &smaps), 0);
	assert_int_equal(smaps.maps.cnt, 3);
	assert_int_equal(smaps.rss[0], 4096);
	assert_int_equal(smaps.rss[1], 20480);
	assert_int_equal(smaps.huge, 24 << 10);
	assert_int_equal(smaps.swapped, 12 << 10);
	smaps_deinit(&smaps);
	for (size_t len = 0; len < strlen(text); len++) {
		char *copy = malloc(len + 1);

		memcpy(copy, text, len);
		assert_int_equal(smaps_parse(copy, len, &smaps), 0);
		smaps_deinit(&smaps);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_pages),
		cmocka_unit_test(pages_of_gap),
		cmocka_unit_test(pinned_by_several),
		cmocka_unit_test(sizes_of_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
