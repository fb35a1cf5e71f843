// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds main arenas by their shape in the data of files, and all other arenas by following the list
 * of arenas.
 */
#include "proof/heap_arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "proof/chain_guard.h"
#include "proof/heap_info.h"
#include "proof/heap_map.h"

/*
 * Fields of an arena, by word offset from its pointer to the top chunk: top, last remainder, list
 * heads, bitmap of bins, next arena, next free arena, thread count (not in all versions), bytes and
 * maximum bytes obtained from the system. The fast bins are before all these.
 */
#define WORD 8U
#define HEADS_AT 2U
#define RING_AT (HEADS_AT + 2 * ARENA_BINS + 2)
#define SYSTEM_AT (RING_AT + 3)
#define ARENA_WORDS (SYSTEM_AT + 2)
#define OWN_WORDS (RING_AT + 4)

/*
 * Maximum number of main arenas: one for each copy of the C library, including copies loaded by
 * dlmopen().
 */
#define MAIN_ARENAS_MAX 16U

/* Maximum bytes of file data to search. */
#define SCAN_BYTES_MAX (4ULL << 30)

/*
 * Possible sizes, in bytes, of the fields before the pointer to the top chunk (lock, flags, fast
 * bins). The size depends on the version of glibc.
 */
static const uint64_t lists_at[] = {96, 88, 16, 8};

/*
 * Returns the pointer that the list head of a bin contains if the list is empty: the address of the
 * list head minus the size of a chunk header.
 */
static uint64_t head_of(uint64_t lists, size_t bin)
{
	return lists + bin * 2 * WORD;
}

static bool may_be_chunk(uint64_t word)
{
	return word && word % CHUNK_ALIGN == 0;
}

/*
 * Checks only the pointer to the top chunk and the list of the last bin, which is always empty.
 * These checks reject nearly all memory that is no arena. words: memory at `lists`.
 */
static bool may_have_shape(const uint64_t *words, uint64_t lists)
{
	return words[HEADS_AT + 2 * ARENA_BINS - 2] == head_of(lists, ARENA_BINS - 1) &&
	       (may_be_chunk(words[0]) || words[0] == lists);
}

/*
 * True if the memory at `lists`, copied to `words`, looks like an arena. A list head has pointers
 * to the list's first and last chunk. Does not follow lists that are not empty.
 */
static bool has_shape(const uint64_t *words, uint64_t lists)
{
	if (!may_have_shape(words, lists))
		return false;
	for (size_t i = 0; i < ARENA_BINS; i++) {
		uint64_t first = words[HEADS_AT + 2 * i], last = words[HEADS_AT + 2 * i + 1];
		uint64_t head = head_of(lists, i);

		if ((first == head) != (last == head) ||
		    (first != head && (!may_be_chunk(first) || !may_be_chunk(last))))
			return false;
	}
	return true;
}

static void sum_links(const uint64_t *words, struct heap_arena *arena)
{
	for (size_t i = 0; i < ARENA_BINS; i++) {
		uint64_t head = head_of(arena->lists, i);

		arena->forward_sum += heap_link_hash(head, words[HEADS_AT + 2 * i]);
		arena->backward_sum += heap_link_hash(words[HEADS_AT + 2 * i + 1], head);
	}
}

static struct heap_arena arena_from(struct heap_reader *reader, const uint64_t *words,
				    uint64_t lists)
{
	struct heap_arena arena = {.start = lists,
				   .lists = lists,
				   .end = lists + OWN_WORDS * WORD,
				   .top = words[0],
				   .next = words[RING_AT],
				   .system_bytes = {words[SYSTEM_AT], words[SYSTEM_AT - 1]}};

	sum_links(words, &arena);
	if (!heap_reader_copy(reader, lists - sizeof(arena.fast), arena.fast, sizeof(arena.fast)))
		memset(arena.fast, 0, sizeof(arena.fast));
	return arena;
}

/* True if `top` is the address of a plausible top chunk. Each top chunk ends at a page boundary. */
static bool has_top(struct heap_reader *reader, uint64_t top)
{
	uint64_t head, page_mask = reader->memory->page_size - 1;

	return heap_reader_word(reader, top + WORD, &head) && (head & CHUNK_PREV_USED) &&
	       !(head & (CHUNK_FLAGS & ~(CHUNK_PREV_USED))) &&
	       ((top + (head & ~(uint64_t)CHUNK_FLAGS)) & page_mask) == 0;
}

bool heap_arena_break(const struct memory *memory, const struct heap_arena *arena,
		      uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t start = 0, end = 0;

	for_each_mapping (mapping, &memory->maps) {
		if (!strcmp(mapping->path, "[heap]")) {
			start = end ? start : mapping->start;
			end = mapping->end;
		} else if (mapping->start > arena->top) {
			break;
		} else if (end && mapping->end > end) {
			return false;
		}
	}
	*ret_start = start;
	*ret_end = end;
	return end && start < arena->top;
}

/*
 * True if the arena has a top chunk. If memory changes while it is read, the pointer to the top
 * chunk may be older than the memory that it points to; then it need only point into the memory of
 * brk().
 */
static bool has_some_top(struct heap_reader *reader, const struct heap_arena *arena)
{
	uint64_t start, end;

	return has_top(reader, arena->top) ||
	       (reader->memory->changes && heap_arena_break(reader->memory, arena, &start, &end));
}

/* Maximum attempts to read an arena whose lists change while it is read. */
#define ATTEMPTS_MAX 8U

/*
 * Reads the arena whose pointer to the top chunk is at the address `lists`. words: memory at
 * `lists`, which is read anew for each retry. False if there is no arena.
 */
static bool read_at(struct heap_reader *reader, const uint64_t *words, uint64_t lists,
		    struct heap_arena *ret)
{
	uint64_t copy[ARENA_WORDS];

	for (size_t i = 0; i < ATTEMPTS_MAX && may_have_shape(words, lists); i++) {
		if (has_shape(words, lists)) {
			*ret = arena_from(reader, words, lists);
			return true;
		}
		if (!reader->memory->changes ||
		    !heap_reader_copy(reader, lists, copy, sizeof(copy)))
			return false;
		words = copy;
	}
	return false;
}

static int add_arena(struct heap_arenas *arenas, const struct heap_arena *arena)
{
	if (array_reserve(&arenas->items, &arenas->cap, arenas->cnt + 1))
		return -ENOMEM;
	arenas->items[arenas->cnt++] = *arena;
	return 0;
}

struct scan {
	struct heap_reader *reader;
	struct heap_arenas *arenas;
	uint64_t bytes_left;
};

/* Searches a range of memory for main arenas. Returns 0 or -ENOMEM. */
static int scan_pages(void *arg, uint64_t start, uint64_t end)
{
	struct scan *scan = arg;

	if (end - start > scan->bytes_left)
		end = start + scan->bytes_left;
	scan->bytes_left -= end - start;
	for (uint64_t at = (start + WORD - 1) & ~(uint64_t)(WORD - 1); at < end; at += WORD) {
		const uint64_t *words = heap_reader_window(scan->reader, at, ARENA_WORDS * WORD);
		struct heap_arena arena;

		if (!words)
			return 0;
		if (!read_at(scan->reader, words, at, &arena))
			continue;
		arena.main = true;
		/* Before the first malloc(), top points to the arena itself. */
		if (arena.top != at && !has_some_top(scan->reader, &arena))
			continue;
		if (scan->arenas->cnt == MAIN_ARENAS_MAX)
			return 0;
		if (add_arena(scan->arenas, &arena))
			return -ENOMEM;
		at += ARENA_WORDS * WORD - WORD;
	}
	return 0;
}

static int find_main(struct heap_reader *reader, struct heap_arenas *arenas)
{
	const struct memory *memory = reader->memory;
	struct scan scan = {.reader = reader, .arenas = arenas, .bytes_left = SCAN_BYTES_MAX};

	for_each_mapping (mapping, &memory->maps) {
		int err;

		if (!mapping->writable || mapping->shared || mapping->path[0] != '/')
			continue;
		err = memory->ops->visit_written(memory, mapping, mapping->start, mapping->end,
						 scan_pages, &scan);
		if (err == -ENOMEM)
			return err;
	}
	return 0;
}

/*
 * Sets the address of an arena. Clears the fast bins if there is no room for them before the list
 * heads: this version of glibc has no fast bins.
 */
static void set_addr(struct heap_arena *arena, uint64_t addr)
{
	arena->addr = addr;
	arena->start = addr;
	if (arena->lists - addr < sizeof(arena->fast))
		memset(arena->fast, 0, sizeof(arena->fast));
}

/*
 * Reads an arena whose pointer to the top chunk is at the given distance from its start. False if
 * there is no arena.
 */
static bool read_arena(struct heap_reader *reader, uint64_t addr, uint64_t distance,
		       struct heap_arena *ret)
{
	uint64_t words[ARENA_WORDS];

	if (addr % WORD || !heap_reader_copy(reader, addr + distance, words, sizeof(words)) ||
	    !read_at(reader, words, addr + distance, ret))
		return false;
	set_addr(ret, addr);
	return true;
}

/* glibc's NONCONTIGUOUS_BIT, in the first word of an arena, which contains its lock and flags. */
#define FLAG_SCATTERED (2ULL << 32)

/* Sets the address of a main arena. distance: as for follow_ring(). */
static void set_main_addr(struct heap_reader *reader, struct heap_arena *arena, uint64_t distance)
{
	uint64_t flags;

	set_addr(arena, arena->lists - distance);
	if (heap_reader_word(reader, arena->addr, &flags))
		arena->scattered = flags & FLAG_SCATTERED;
}

/*
 * Follows the list of arenas from a main arena, and adds all arenas of the list. Assumes that the
 * pointer to the top chunk is at the given distance from the start of an arena. Returns 0, -EILSEQ
 * if the list does not lead back to the main arena, or -ENOMEM.
 */
static int follow_ring(struct heap_reader *reader, struct heap_arenas *arenas, size_t from,
		       uint64_t distance)
{
	uint64_t home = arenas->items[from].lists - distance;
	size_t cnt_before = arenas->cnt;
	struct chain_guard guard = {0};

	for (uint64_t addr = arenas->items[from].next; addr != home;) {
		struct heap_arena arena;

		if (!addr || chain_guard_is_back(&guard, addr) ||
		    !read_arena(reader, addr, distance, &arena)) {
			arenas->cnt = cnt_before;
			return -EILSEQ;
		}
		if (add_arena(arenas, &arena))
			return -ENOMEM;
		addr = arena.next;
	}
	set_main_addr(reader, &arenas->items[from], distance);
	return 0;
}

/*
 * Adds the arenas whose first heap is in the list of mappings. distance: as for follow_ring(). If
 * the search ends before all possible heap addresses were read, counts one more arena that cannot
 * be read.
 */
static int add_listed(struct heap_reader *reader, struct heap_arenas *arenas, uint64_t distance)
{
	struct heap_info_search search = {.reader = reader, .max = HEAP_MAX_USUAL};
	size_t unread_cnt = 0;

	while (heap_info_next(&search)) {
		struct heap_arena arena;

		if (!heap_info_is_first(search.heap, search.info.arena))
			continue;
		if (!read_arena(reader, search.info.arena, distance, &arena))
			unread_cnt++;
		else if (add_arena(arenas, &arena))
			return -ENOMEM;
	}
	arenas->unread_cnt = unread_cnt + search.is_cut;
	return 0;
}

/*
 * Adds the arenas that add_listed() finds. Used if the list of arenas contains an arena that was
 * created after the mappings were listed, and so cannot be followed.
 */
static int find_listed(struct heap_reader *reader, struct heap_arenas *arenas)
{
	size_t cnt_before = arenas->cnt;

	for (size_t i = 0; i < sizeof(lists_at) / sizeof(lists_at[0]); i++) {
		if (add_listed(reader, arenas, lists_at[i]))
			return -ENOMEM;
		if (arenas->cnt > cnt_before) {
			set_main_addr(reader, &arenas->items[0], lists_at[i]);
			break;
		}
	}
	return 0;
}

int heap_arenas_find(struct heap_reader *reader, struct heap_arenas *ret)
{
	struct heap_arenas arenas = {0};
	int err = find_main(reader, &arenas);
	size_t main_cnt = arenas.cnt;

	for (size_t i = 0; i < main_cnt && err != -ENOMEM; i++) {
		err = -EILSEQ;
		for (size_t j = 0; j < sizeof(lists_at) / sizeof(lists_at[0]) && err == -EILSEQ;
		     j++)
			err = follow_ring(reader, &arenas, i, lists_at[j]);
		/* The list cannot be followed, so there is at least one more arena. */
		arenas.unread_cnt += err == -EILSEQ;
	}
	if (err == -EILSEQ && main_cnt == 1 && reader->memory->changes)
		err = find_listed(reader, &arenas);
	if (err == -ENOMEM) {
		heap_arenas_deinit(&arenas);
		return err;
	}
	*ret = arenas;
	return 0;
}

void heap_arenas_deinit(struct heap_arenas *arenas)
{
	free(arenas->items);
	*arenas = (struct heap_arenas){0};
}
