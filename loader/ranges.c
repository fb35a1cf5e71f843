// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorted ranges of address space: insertion, partial removal, moves. */
#include "loader/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct taken {
	pid_t tid;
	uint64_t addr;
	uint64_t len;
	bool copied; /* the pieces are still in the list as well */
	struct range *pieces;
	size_t cnt;
};

void ranges_init(struct ranges *ranges, uint64_t page_size)
{
	*ranges = (struct ranges){.page_size = page_size};
}

void ranges_clear(struct ranges *ranges)
{
	for (size_t i = 0; i < ranges->taken_cnt; i++)
		free(ranges->taken[i].pieces);
	free(ranges->taken);
	free(ranges->items);
	ranges_init(ranges, ranges->page_size);
}

void ranges_deinit(struct ranges *ranges)
{
	ranges_clear(ranges);
}

/* End of the pages that [addr, addr + len) touches; saturates, lengths come from a target. */
static uint64_t page_end(const struct ranges *ranges, uint64_t addr, uint64_t len)
{
	uint64_t mask = ranges->page_size - 1, end;

	if (__builtin_add_overflow(addr, len, &end) || end > UINT64_MAX - mask)
		return UINT64_MAX;
	return (end + mask) & ~mask;
}

/* Index of the first range that ends beyond addr. */
static size_t first_beyond(const struct ranges *ranges, uint64_t addr)
{
	size_t low = 0, high = ranges->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ranges->items[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int reserve(struct ranges *ranges, size_t more)
{
	size_t cap = ranges->cap;
	struct range *items;

	if (ranges->cnt + more <= cap)
		return 0;
	while (cap < ranges->cnt + more)
		cap = cap ? cap * 2 : 64;
	items = reallocarray(ranges->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	ranges->items = items;
	ranges->cap = cap;
	return 0;
}

/* Replaces items[at, at + old_cnt) by new_cnt others; memory was reserved. */
static void splice(struct ranges *ranges, size_t at, size_t old_cnt, const struct range *new_items,
		   size_t new_cnt)
{
	memmove(&ranges->items[at + new_cnt], &ranges->items[at + old_cnt],
		(ranges->cnt - at - old_cnt) * sizeof(*ranges->items));
	if (new_cnt)
		memcpy(&ranges->items[at], new_items, new_cnt * sizeof(*new_items));
	ranges->cnt += new_cnt - old_cnt;
}

static struct range clip(struct range range, uint64_t start, uint64_t end)
{
	if (range.start < start)
		range.start = start;
	if (range.end > end)
		range.end = end;
	return range;
}

/* Index of the first range that starts at end or beyond. */
static size_t first_from(const struct ranges *ranges, size_t at, uint64_t end)
{
	while (at < ranges->cnt && ranges->items[at].start < end)
		at++;
	return at;
}

/* What is in [start, end), as pieces. */
static int copy_pieces(const struct ranges *ranges, uint64_t start, uint64_t end,
		       struct taken *taken)
{
	size_t at = first_beyond(ranges, start), last = first_from(ranges, at, end);

	if (last == at)
		return 0;
	taken->pieces = calloc(last - at, sizeof(*taken->pieces));
	if (!taken->pieces)
		return -ENOMEM;
	for (size_t i = at; i < last; i++)
		taken->pieces[taken->cnt++] = clip(ranges->items[i], start, end);
	return 0;
}

/* Removes [start, end). */
static int cut(struct ranges *ranges, uint64_t start, uint64_t end)
{
	size_t at = first_beyond(ranges, start), last = first_from(ranges, at, end), rest_cnt = 0;
	struct range rest[2];

	if (last == at)
		return 0;
	if (reserve(ranges, 1))
		return -ENOMEM;
	if (ranges->items[at].start < start)
		rest[rest_cnt++] = clip(ranges->items[at], 0, start);
	if (ranges->items[last - 1].end > end)
		rest[rest_cnt++] = clip(ranges->items[last - 1], end, UINT64_MAX);
	splice(ranges, at, last - at, rest, rest_cnt);
	return 0;
}

int ranges_insert(struct ranges *ranges, const struct range *range)
{
	uint64_t end = page_end(ranges, range->start, range->end - range->start);
	size_t at;

	if (range->end <= range->start)
		return 0;
	if (cut(ranges, range->start, end) || reserve(ranges, 1))
		return -ENOMEM;
	at = first_beyond(ranges, range->start);
	splice(ranges, at, 0, range, 1);
	return 0;
}

int ranges_inherit(struct ranges *ranges, const struct ranges *parent, uint32_t image)
{
	if (reserve(ranges, parent->cnt))
		return -ENOMEM;
	for (size_t i = 0; i < parent->cnt; i++) {
		struct range *range = &ranges->items[i];

		*range = parent->items[i];
		if (!range->heir_of)
			range->heir_of = image;
	}
	ranges->cnt = parent->cnt;
	return 0;
}

static struct taken *find_taken(struct ranges *ranges, pid_t tid)
{
	for (size_t i = 0; i < ranges->taken_cnt; i++)
		if (ranges->taken[i].tid == tid)
			return &ranges->taken[i];
	return NULL;
}

static void drop_taken(struct ranges *ranges, struct taken *taken)
{
	free(taken->pieces);
	*taken = ranges->taken[--ranges->taken_cnt];
}

void ranges_forget(struct ranges *ranges, pid_t tid)
{
	struct taken *taken = find_taken(ranges, tid);

	if (taken)
		drop_taken(ranges, taken);
}

int ranges_take(struct ranges *ranges, pid_t tid, uint64_t addr, uint64_t len, bool copy)
{
	struct taken taken = {.tid = tid, .addr = addr, .len = len, .copied = copy};
	struct taken *grown;
	int err;

	ranges_forget(ranges, tid);
	grown = reallocarray(ranges->taken, ranges->taken_cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	ranges->taken = grown;
	err = copy_pieces(ranges, addr, page_end(ranges, addr, len), &taken);
	if (!err && !copy)
		err = cut(ranges, addr, page_end(ranges, addr, len));
	if (err || !taken.cnt) {
		free(taken.pieces);
		return err;
	}
	grown[ranges->taken_cnt++] = taken;
	return 0;
}

static bool same_block(const struct range *a, const struct range *b)
{
	return a->end == b->start && a->site == b->site && a->birth_ns == b->birth_ns &&
	       a->tid == b->tid;
}

/* Puts a piece back where it was cut out: it is one block again with what is left beside it. */
static int put_back(struct ranges *ranges, const struct range *piece)
{
	struct range joined = *piece;
	size_t at = first_beyond(ranges, piece->start);

	if (at > 0 && same_block(&ranges->items[at - 1], piece))
		joined.start = ranges->items[at - 1].start;
	if (at < ranges->cnt && same_block(piece, &ranges->items[at]))
		joined.end = ranges->items[at].end;
	return ranges_insert(ranges, &joined);
}

int ranges_untake(struct ranges *ranges, pid_t tid)
{
	struct taken *taken = find_taken(ranges, tid);
	int err = 0;

	if (!taken)
		return 0;
	for (size_t i = 0; !taken->copied && !err && i < taken->cnt; i++)
		err = put_back(ranges, &taken->pieces[i]);
	drop_taken(ranges, taken);
	return err;
}

int ranges_move(struct ranges *ranges, pid_t tid, uint64_t addr, uint64_t len)
{
	struct taken *taken = find_taken(ranges, tid);
	uint64_t old_end, end;
	int err;

	if (__builtin_add_overflow(addr, len, &end))
		end = UINT64_MAX;
	err = cut(ranges, addr, page_end(ranges, addr, len));
	if (!taken || err)
		return err;
	old_end = page_end(ranges, taken->addr, taken->len);
	for (size_t i = 0; !err && i < taken->cnt; i++) {
		struct range piece = taken->pieces[i];
		bool last = page_end(ranges, piece.end, 0) == old_end;

		piece.start = addr + (piece.start - taken->addr);
		piece.end = last ? end : addr + (piece.end - taken->addr);
		piece = clip(piece, addr, end);
		err = ranges_insert(ranges, &piece);
	}
	drop_taken(ranges, taken);
	return err;
}
