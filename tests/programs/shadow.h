/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Part of shadow.c: the program's records of the memory that it has allocated and not freed, which
 * it updates at each call. The records are in static memory, which memleak does not trace.
 */
#ifndef SHADOW_H
#define SHADOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "truth.h"

#define SITES 16
#define BLOCKS 600
#define AREAS 32
#define PIECES 24
#define PAGE 4096UL

enum kind { HEAP, MMAP, RESERVE, STACK, KINDS, UNTRACKED };

static const char *const kind_names[KINDS] = {"heap", "mmap", "reserve", "stack"};

/* How a block was allocated. This decides which function may free the block. */
enum family { OF_MALLOC, OF_NEW, OF_ARRAY, OF_ALIGNED_NEW };

struct block {
	atomic_flag busy;
	void *p;
	size_t size;
	size_t align; /* alignment passed to aligned operator new */
	int site;
	enum family family;
	bool inherited;
};

/*
 * A part of the address space that belongs to one mapping. `end` is as requested, not rounded to
 * pages.
 */
struct piece {
	char *start;
	char *end;
	int site;
	enum kind kind;
	bool inherited;
};

/*
 * An area of address space, with its pieces sorted by address. Only the thread that has set `busy`
 * may change mappings in the area.
 */
struct area {
	atomic_flag busy;
	struct piece pieces[PIECES];
	int cnt;
};

static struct block blocks[BLOCKS];
static struct area areas[AREAS];

static inline size_t pages(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(PAGE - 1);
}

static inline char *page_end(const struct piece *piece)
{
	return piece->start + pages((size_t)(piece->end - piece->start));
}

/*
 * Removes the pages [start, end) from the area. Stores the removed pieces in `taken`, unless it is
 * NULL. Returns the number of removed pieces.
 */
static int area_cut(struct area *area, char *start, char *end, struct piece *taken)
{
	struct piece left[PIECES + 2];
	int cnt = 0, taken_cnt = 0;

	for (int i = 0; i < area->cnt; i++) {
		struct piece all = area->pieces[i], part = all;

		if (all.end <= start || all.start >= end) {
			left[cnt++] = all;
			continue;
		}
		if (all.start < start) {
			part.end = start;
			left[cnt++] = part;
		}
		if (all.end > end) {
			part = all;
			part.start = end;
			left[cnt++] = part;
		}
		part = all;
		part.start = all.start < start ? start : all.start;
		part.end = all.end > end ? end : all.end;
		if (taken)
			taken[taken_cnt] = part;
		taken_cnt++;
	}
	must(cnt <= PIECES, "room for pieces");
	memcpy(area->pieces, left, (size_t)cnt * sizeof(*left));
	area->cnt = cnt;
	return taken_cnt;
}

static void area_put(struct area *area, struct piece piece)
{
	int at = area->cnt;

	must(area->cnt < PIECES, "room for a piece");
	while (at > 0 && area->pieces[at - 1].start > piece.start) {
		area->pieces[at] = area->pieces[at - 1];
		at--;
	}
	area->pieces[at] = piece;
	area->cnt++;
}

/* In a forked child, marks all blocks and mappings as inherited. */
static void books_inherit(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i].inherited = true;
	for (int i = 0; i < AREAS; i++)
		for (int k = 0; k < areas[i].cnt; k++)
			areas[i].pieces[k].inherited = true;
}

/*
 * Prints a line for each site and kind that has blocks. `word`, the beginning of the line, is
 * `holds`, or `held` if the process is about to end.
 */
static void books_tell(const char *word)
{
	struct {
		size_t cnt, bytes, inherited_cnt;
	} sums[SITES][KINDS] = {0};

	for (int i = 0; i < BLOCKS; i++) {
		if (!blocks[i].p)
			continue;
		sums[blocks[i].site][HEAP].cnt++;
		sums[blocks[i].site][HEAP].bytes += blocks[i].size;
		sums[blocks[i].site][HEAP].inherited_cnt += blocks[i].inherited;
	}
	for (int i = 0; i < AREAS; i++)
		for (int k = 0; k < areas[i].cnt; k++) {
			const struct piece *piece = &areas[i].pieces[k];

			if (piece->kind == UNTRACKED)
				continue;
			sums[piece->site][piece->kind].cnt++;
			sums[piece->site][piece->kind].bytes += (size_t)(piece->end - piece->start);
			sums[piece->site][piece->kind].inherited_cnt += piece->inherited;
		}
	for (int site = 0; site < SITES; site++)
		for (int kind = 0; kind < KINDS; kind++)
			if (sums[site][kind].cnt)
				say("%s %d site_%02d %zu %zu %s %zu\n", word, getpid(), site,
				    sums[site][kind].cnt, sums[site][kind].bytes, kind_names[kind],
				    sums[site][kind].inherited_cnt);
}

#endif
