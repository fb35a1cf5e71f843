// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Begins a search at each lost block that no earlier search has reached (a head), in address order,
 * so that the head of a cycle is its lowest block. In this order, however, a search may begin at a
 * head that hangs from another head at a higher address. So a second pass repeats the searches from
 * all heads in reverse order: the search from the higher head now comes first and reaches the lower
 * head, which ceases to be a head.
 */
#include "proof/lost_blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "proof/scan.h"

struct blocks {
	uint32_t *items;
	size_t cnt;
	size_t cap;
};

struct lost_search {
	const struct links *links;
	struct scan scan; /* finds pointers in blocks whose links are not stored */
	struct marks *marks;
	uint32_t head;         /* block where the search began */
	struct blocks pending; /* blocks that were reached but not followed yet */
	int err;
};

static int add(struct blocks *blocks, uint32_t block)
{
	if (array_reserve(&blocks->items, &blocks->cap, blocks->cnt + 1))
		return -ENOMEM;
	blocks->items[blocks->cnt++] = block;
	return 0;
}

static void reach(struct lost_search *search, uint32_t block)
{
	if (block == search->head || search->marks->kinds[block] != MARK_DEFINITE)
		return;
	search->marks->kinds[block] = MARK_INDIRECT;
	search->marks->holders[block] = search->head;
	if (add(&search->pending, block))
		search->err = -ENOMEM;
}

static void found(void *arg, const struct pointer *pointers, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		reach(arg, pointers[i].block);
}

static int follow(struct lost_search *search, uint32_t block)
{
	struct link links[LINKS_MOST];
	size_t cnt;

	if (search->links->first[block] == LINKS_UNREAD) {
		scan_blocks(&search->scan, &block, 1);
		scan_flush(&search->scan);
		return search->err ? search->err : search->scan.window.err;
	}
	cnt = links_of(search->links, block, links);
	for (size_t i = 0; i < cnt; i++)
		reach(search, links[i].block);
	return search->err;
}

/*
 * Marks as indirect all lost blocks that are reachable from `block` and that no earlier search has
 * reached: they hang from `block`.
 */
static int search_from(struct lost_search *search, uint32_t block)
{
	int err;

	search->head = block;
	search->marks->holders[block] = block;
	err = follow(search, block);
	while (!err && search->pending.cnt)
		err = follow(search, search->pending.items[--search->pending.cnt]);
	return err;
}

static bool is_lost(const struct marks *marks, uint32_t block)
{
	return marks->kinds[block] == MARK_DEFINITE || marks->kinds[block] == MARK_INDIRECT;
}

/* Runs both passes: over all lost blocks in address order, then over the heads in reverse order. */
static int search_all(struct lost_search *search, uint32_t cnt, struct blocks *heads)
{
	struct marks *marks = search->marks;
	int err = 0;

	for (uint32_t i = 0; !err && i < cnt; i++) {
		if (marks->kinds[i] != MARK_DEFINITE)
			continue;
		err = search_from(search, i);
		if (!err)
			err = add(heads, i);
	}
	for (uint32_t i = 0; !err && i < cnt; i++)
		if (is_lost(marks, i))
			marks->kinds[i] = MARK_DEFINITE;
	while (!err && heads->cnt) {
		uint32_t head = heads->items[--heads->cnt];

		if (marks->kinds[head] == MARK_DEFINITE)
			err = search_from(search, head);
	}
	return err;
}

int lost_blocks_sort_out(const struct memory *memory, const struct block_index *index,
			 const struct links *links, struct marks *marks)
{
	struct lost_search search = {.links = links, .marks = marks};
	struct blocks heads = {0};
	int err = scan_init(memory, index, found, &search, &search.scan);

	if (!err)
		err = search_all(&search, index->cnt, &heads);
	marks->scanned_bytes += search.scan.window.read_bytes;
	scan_deinit(&search.scan);
	free(heads.items);
	free(search.pending.items);
	return err;
}
