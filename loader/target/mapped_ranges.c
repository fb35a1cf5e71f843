// SPDX-License-Identifier: GPL-2.0-or-later
/* Inserts, removes and moves sorted ranges of address space. */
#include "loader/target/mapped_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "bpf/memleak.h"

struct taken {
	pid_t tid;
	uint64_t addr;
	uint64_t len;
	bool copied; /* true if the list still contains the pieces */
	/*
	 * `rest_before`: the first piece is the end of a longer range, whose beginning stayed in
	 * the list. `rest_behind`: the last piece is the beginning of a longer range, whose end
	 * stayed in the list.
	 */
	bool rest_before;
	bool rest_behind;
	struct range *pieces;
	size_t cnt;
};

void ranges_init(struct ranges *ranges, uint64_t page_size, uint64_t memory_bytes)
{
	*ranges = (struct ranges){.page_size = page_size, .memory_bytes = memory_bytes};
}

static void free_items(struct ranges *ranges)
{
	if (ranges->items)
		free(ranges->items - ranges->before);
}

void ranges_clear(struct ranges *ranges)
{
	uint64_t lost = ranges->lost;

	for (size_t i = 0; i < ranges->taken_cnt; i++)
		free(ranges->taken[i].pieces);
	free(ranges->taken);
	free_items(ranges);
	ranges_init(ranges, ranges->page_size, ranges->memory_bytes);
	ranges->lost = lost;
}

void ranges_deinit(struct ranges *ranges)
{
	ranges_clear(ranges);
}

/*
 * Returns the end of the last page that [addr, addr + len) touches. The target chooses addr and
 * len: if their sum overflows, returns UINT64_MAX.
 */
static uint64_t page_end(const struct ranges *ranges, uint64_t addr, uint64_t len)
{
	uint64_t mask = ranges->page_size - 1, end;

	if (__builtin_add_overflow(addr, len, &end) || end > UINT64_MAX - mask)
		return UINT64_MAX;
	return (end + mask) & ~mask;
}

/* Returns the index of the first range that ends after addr. */
static size_t first_beyond(const struct ranges *ranges, uint64_t addr)
{
	return bisect_upto(ranges->items, ranges->cnt, end, addr);
}

/*
 * Ensures that at least `more` elements are unused before and behind the items. Returns 0 or
 * -ENOMEM.
 */
static int reserve(struct ranges *ranges, size_t more)
{
	size_t unused = more > ranges->cnt / 2 ? more : ranges->cnt / 2;
	struct range *slots;

	if (ranges->before >= more && ranges->behind >= more)
		return 0;
	slots = reallocarray(NULL, ranges->cnt + 2 * unused, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	if (ranges->cnt)
		memcpy(slots + unused, ranges->items, ranges->cnt * sizeof(*slots));
	free_items(ranges);
	ranges->items = slots + unused;
	ranges->before = ranges->behind = unused;
	return 0;
}

/*
 * Replaces old_cnt items, beginning at index `at`, by new_cnt items. Moves the items before or
 * behind them, whichever are fewer. The caller must have reserved memory.
 */
static void splice(struct ranges *ranges, size_t at, size_t old_cnt, const struct range *new_items,
		   size_t new_cnt)
{
	size_t end = at + old_cnt, after = ranges->cnt - end;
	ptrdiff_t freed = (ptrdiff_t)old_cnt - (ptrdiff_t)new_cnt;

	if (at < after) {
		memmove(ranges->items + freed, ranges->items, at * sizeof(*ranges->items));
		ranges->items += freed;
		ranges->before += (size_t)freed;
	} else {
		memmove(&ranges->items[at + new_cnt], &ranges->items[end],
			after * sizeof(*ranges->items));
		ranges->behind += (size_t)freed;
	}
	if (new_cnt)
		memcpy(&ranges->items[at], new_items, new_cnt * sizeof(*new_items));
	ranges->cnt += new_cnt - old_cnt;
}

/* Adds a range after all others. The caller must have reserved memory. */
static void append(struct ranges *ranges, const struct range *range)
{
	splice(ranges, ranges->cnt, 0, range, 1);
}

static struct range clip(struct range range, uint64_t start, uint64_t end)
{
	if (range.start < start)
		range.start = start;
	if (range.end > end)
		range.end = end;
	return range;
}

/* Returns the index, at least `at`, of the first range that starts at or after `end`. */
static size_t first_from(const struct ranges *ranges, size_t at, uint64_t end)
{
	while (at < ranges->cnt && ranges->items[at].start < end)
		at++;
	return at;
}

/* Copies the parts of ranges in [start, end) to taken->pieces. */
static int copy_pieces(const struct ranges *ranges, uint64_t start, uint64_t end,
		       struct taken *taken)
{
	size_t at = first_beyond(ranges, start), last = first_from(ranges, at, end);

	if (last == at)
		return 0;
	taken->pieces = calloc(last - at, sizeof(*taken->pieces));
	if (!taken->pieces)
		return -ENOMEM;
	taken->rest_before = ranges->items[at].start < start;
	taken->rest_behind = ranges->items[last - 1].end > end;
	for (size_t i = at; i < last; i++)
		taken->pieces[taken->cnt++] = clip(ranges->items[i], start, end);
	return 0;
}

/* Removes the parts of ranges in [start, end). */
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
	if (ranges->cnt >= RANGES_MAX) {
		ranges->lost++;
		return 0;
	}
	at = first_beyond(ranges, range->start);
	splice(ranges, at, 0, range, 1);
	return 0;
}

int ranges_inherit(struct ranges *ranges, const struct ranges *parent, uint32_t image)
{
	ranges_clear(ranges);
	if (reserve(ranges, parent->cnt))
		return -ENOMEM;
	for (size_t i = 0; i < parent->cnt; i++) {
		struct range range = parent->items[i];

		if (!range.descendant_of)
			range.descendant_of = image;
		append(ranges, &range);
	}
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
	int err;

	ranges_forget(ranges, tid);
	/*
	 * With an unaligned address, a length of 0 or an overflow, the call unmaps nothing. Take
	 * nothing: putting pieces back after the call would undo changes that other threads have
	 * made to the list in the meantime.
	 */
	if (addr % ranges->page_size || !len || page_end(ranges, addr, len) == UINT64_MAX)
		return 0;
	if (array_reserve(&ranges->taken, &ranges->taken_cap, ranges->taken_cnt + 1))
		return -ENOMEM;
	err = copy_pieces(ranges, addr, page_end(ranges, addr, len), &taken);
	if (!err && !copy)
		err = cut(ranges, addr, page_end(ranges, addr, len));
	if (err || !taken.cnt) {
		free(taken.pieces);
		return err;
	}
	ranges->taken[ranges->taken_cnt++] = taken;
	return 0;
}

uint32_t range_kind(const struct ranges *ranges, const struct range *range)
{
	if (range->kind == MEMLEAK_KIND_MMAP && range->end - range->start > ranges->memory_bytes)
		return MEMLEAK_KIND_RESERVE;
	return range->kind;
}

static bool same_call(const struct range *a, const struct range *b)
{
	return a->end == b->start && a->site == b->site && a->birth_ns == b->birth_ns &&
	       a->tid == b->tid;
}

bool range_goes_on(const struct range *a, const struct range *b)
{
	return same_call(a, b) && a->kind != b->kind;
}

static bool same_block(const struct range *a, const struct range *b)
{
	return same_call(a, b) && a->kind == b->kind;
}

/*
 * Puts a taken piece back, and merges it with adjacent parts of the same range that were not taken.
 */
static int put_back(struct ranges *ranges, const struct taken *taken, size_t i)
{
	const struct range *piece = &taken->pieces[i];
	struct range joined = *piece;
	size_t at = first_beyond(ranges, piece->start);

	if (i == 0 && taken->rest_before && at > 0 && same_block(&ranges->items[at - 1], piece))
		joined.start = ranges->items[at - 1].start;
	if (i == taken->cnt - 1 && taken->rest_behind && at < ranges->cnt &&
	    same_block(piece, &ranges->items[at]))
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
		err = put_back(ranges, taken, i);
	drop_taken(ranges, taken);
	return err;
}

int ranges_move(struct ranges *ranges, pid_t tid, uint64_t addr, uint64_t len, uint64_t now_ns)
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
		piece.placed_ns = now_ns;
		err = ranges_insert(ranges, &piece);
	}
	drop_taken(ranges, taken);
	return err;
}

/*
 * True for private memory without a file. This includes code of a file that was moved to anonymous
 * memory, and anonymous huge pages, although the kernel backs these with an internal file.
 */
static bool is_anonymous(const struct mapping *mapping)
{
	static const char huge[] = "/anon_hugepage";

	return !mapping->shared && (!mapping->file.ino || mapping_is_moved(mapping) ||
				    !strncmp(mapping->path, huge, sizeof(huge) - 1));
}

static bool is_accessible(const struct mapping *mapping)
{
	return mapping->readable || mapping->writable || mapping->executable;
}

/*
 * Appends the parts of a range that are still mapped to the new list `left`. goes_on: result of
 * range_goes_on() for the previous range and this range. *at: index of the first mapping that may
 * overlap the range.
 */
static int add_freed_blocks(struct ranges *left, const struct range *range, bool goes_on,
			    const struct proc_maps *maps, size_t *at)
{
	while (*at < maps->cnt && maps->mappings[*at].end <= range->start)
		++*at;
	for (size_t i = *at; i < maps->cnt && maps->mappings[i].start < range->end; i++) {
		const struct mapping *mapping = &maps->mappings[i];
		struct range *last = left->cnt ? &left->items[left->cnt - 1] : NULL;
		struct range piece = clip(*range, mapping->start, mapping->end);

		if (!is_anonymous(mapping))
			continue;
		if (piece.reserved)
			piece.kind =
				is_accessible(mapping) ? MEMLEAK_KIND_MMAP : MEMLEAK_KIND_RESERVE;
		if (last && (goes_on || last->start >= range->start) && same_block(last, &piece)) {
			last->end = piece.end;
			continue;
		}
		if (reserve(left, 1))
			return -ENOMEM;
		append(left, &piece);
	}
	return 0;
}

int ranges_reconcile(struct ranges *ranges, const struct proc_maps *maps, uint64_t as_of_ns)
{
	struct ranges left = {0};
	size_t at = 0;
	int err = reserve(&left, ranges->cnt);

	for (size_t i = 0; !err && i < ranges->cnt; i++) {
		const struct range *range = &ranges->items[i];
		bool goes_on = i && range_goes_on(range - 1, range);

		if (range->placed_ns < as_of_ns)
			err = add_freed_blocks(&left, range, goes_on, maps, &at);
		else if (!(err = reserve(&left, 1)))
			append(&left, range);
	}
	if (err) {
		free_items(&left);
		return err;
	}
	free_items(ranges);
	ranges->items = left.items;
	ranges->cnt = left.cnt;
	ranges->before = left.before;
	ranges->behind = left.behind;
	return 0;
}

static struct range_block block_of(const struct ranges *ranges, size_t first, size_t end,
				   uint32_t kind)
{
	struct range_block block = {.range = &ranges->items[first], .kind = kind};

	for (size_t i = first; i < end; i++) {
		const struct range *part = &ranges->items[i];

		if (range_kind(ranges, part) != kind)
			continue;
		if (!block.bytes)
			block.addr = part->start;
		block.bytes += part->end - part->start;
	}
	return block;
}

int ranges_visit(const struct ranges *ranges,
		 int (*visit)(void *arg, const struct range_block *block), void *arg)
{
	static const uint32_t kinds[] = {MEMLEAK_KIND_MMAP, MEMLEAK_KIND_RESERVE,
					 MEMLEAK_KIND_STACK};
	int err = 0;

	for (size_t first = 0, end; !err && first < ranges->cnt; first = end) {
		for (end = first + 1; end < ranges->cnt; end++)
			if (!range_goes_on(&ranges->items[end - 1], &ranges->items[end]))
				break;
		for (size_t i = 0; !err && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			struct range_block block = block_of(ranges, first, end, kinds[i]);

			err = block.bytes ? visit(arg, &block) : 0;
		}
	}
	return err;
}
