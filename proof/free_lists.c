// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows glibc's singly linked lists of free chunks. */
#include "proof/free_lists.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "proof/thread_cache.h"

/*
 * A hidden link (safe linking) is stored XORed with its own address, shifted right by this number
 * of bits.
 */
#define HIDING_SHIFT 12

/*
 * Maximum steps along all lists together, on top of four per chunk: some lists are followed more
 * than once, and some contain chunks of unknown heaps.
 */
#define SPARE_STEPS (1U << 20)

/*
 * Maximum number of page reads for all lists. Chunks of a fast bin may be anywhere, and each read
 * takes 1 to 2 µs. Fast bins that need more reads are rare, because any large request to malloc()
 * empties the fast bins.
 */
#define PAGE_READS_MAX (1U << 19)

struct list {
	uint64_t first; /* first chunk of the list, 0 if the list is empty */
	uint64_t size_min, size_max;
	bool may_be_cut;
	/*
	 * Distance from the address in a link to the data of the linked chunk. The data begins with
	 * the next link.
	 */
	uint64_t to_data;
	bool hidden;
};

void free_lists_init(struct free_lists *lists, struct heap_reader *reader, struct heap_set *heaps)
{
	*lists = (struct free_lists){.reader = reader,
				     .heaps = heaps,
				     .steps_left = SPARE_STEPS,
				     .reads_max = reader->page_reads + PAGE_READS_MAX};
	for (size_t i = 0; i < heaps->cnt; i++)
		lists->steps_left += 4 * heaps->maps[i].chunk_cnt;
}

void free_lists_deinit(struct free_lists *lists)
{
	free(lists->caches);
	*lists = (struct free_lists){0};
}

/*
 * Sets or clears the free mark of the chunk whose data is at `data`. False if the chunk does not
 * fit the list.
 */
static bool mark_chunk(struct free_lists *lists, const struct list *list, uint64_t data,
		       bool is_free)
{
	uint64_t addr = data - CHUNK_HEADER, size;
	struct heap_map *map;

	if (data % CHUNK_ALIGN || data < CHUNK_HEADER)
		return false;
	map = heap_set_find(lists->heaps, addr);
	if (!map)
		return heap_set_is_unknown(lists->heaps, addr);
	if (heap_map_is_gap(map, addr))
		return true;
	size = heap_map_size(map, addr);
	if (size < list->size_min || size > list->size_max ||
	    heap_map_is_free(map, addr) == is_free)
		return false;
	heap_map_mark(map, addr, is_free);
	return true;
}

/*
 * Reads the link of the chunk with its data at `data`. *ret: address of the next chunk's data, 0 at
 * the end of the list. False if the link cannot be read.
 */
static bool next_data(struct free_lists *lists, const struct list *list, uint64_t data,
		      uint64_t *ret)
{
	uint64_t link;

	if (!heap_reader_word(lists->reader, data, &link))
		return false;
	if (list->hidden)
		link ^= data >> HIDING_SHIFT;
	*ret = link ? link + list->to_data : 0;
	return true;
}

/* Clears the free marks of the first cnt chunks of a list. */
static void unmark(struct free_lists *lists, const struct list *list, size_t cnt)
{
	uint64_t data = list->first ? list->first + list->to_data : 0;

	for (size_t i = 0; i < cnt && data; i++) {
		mark_chunk(lists, list, data, false);
		if (!next_data(lists, list, data, &data))
			return;
	}
}

/*
 * Marks all chunks of a list and returns their number. If may_be_cut is set, stops at the limit of
 * page reads. If any chunk does not fit the list, marks none and returns -EILSEQ.
 */
static ssize_t mark_list(struct free_lists *lists, const struct list *list)
{
	uint64_t data = list->first ? list->first + list->to_data : 0;
	size_t cnt = 0;

	while (data) {
		if (lists->reader->page_reads >= lists->reads_max && list->may_be_cut) {
			lists->cut_cnt++;
			break;
		}
		if (!lists->steps_left || lists->reader->page_reads >= lists->reads_max ||
		    !mark_chunk(lists, list, data, true))
			goto bad;
		lists->steps_left--;
		cnt++;
		if (!next_data(lists, list, data, &data))
			goto bad;
	}
	return (ssize_t)cnt;
bad:
	unmark(lists, list, cnt);
	return -EILSEQ;
}

void free_lists_mark_fast(struct free_lists *lists, uint64_t first, uint64_t size)
{
	struct list list = {.first = first,
			    .size_min = size,
			    .size_max = size,
			    .may_be_cut = true,
			    .to_data = CHUNK_HEADER,
			    .hidden = !lists->is_known || lists->hidden};

	if (mark_list(lists, &list) >= 0 || lists->is_known)
		return;
	list.hidden = false;
	mark_list(lists, &list);
}

static struct list list_of(const struct thread_cache *cache, size_t bin, bool hidden)
{
	return (struct list){.first = cache->firsts[bin],
			     .size_min = cache->size_mins[bin],
			     .size_max = cache->size_maxs[bin],
			     .hidden = hidden};
}

/*
 * True if the number of chunks found in the list of a bin matches the count in the thread cache.
 * *room: maximum length of a list, used only if counts_room is set. The call for bin 0 sets *room,
 * so it must come first.
 */
static bool count_fits(const struct thread_cache *cache, size_t bin, size_t found, size_t *room)
{
	if (!cache->counts_room)
		return cache->counts[bin] == found;
	if (!bin)
		*room = cache->counts[bin] + found;
	return cache->counts[bin] + found == *room;
}

/*
 * Marks the chunks in all lists of a thread cache. Marks none if any list does not match its count.
 */
static bool mark_cache(struct free_lists *lists, const struct thread_cache *cache, bool hidden)
{
	size_t bin, room = 0, total = 0;

	for (bin = 0; bin < cache->bin_cnt; bin++) {
		struct list list = list_of(cache, bin, hidden);
		ssize_t cnt = mark_list(lists, &list);

		if (cnt < 0)
			break;
		if (!count_fits(cache, bin, (size_t)cnt, &room)) {
			unmark(lists, &list, (size_t)cnt);
			break;
		}
		total += (size_t)cnt;
	}
	/*
	 * Without safe linking, one chunk in all lists together is weak evidence: any memory with a
	 * small number, a pointer and a zero would match.
	 */
	if (bin == cache->bin_cnt && (hidden || total > 1))
		return true;
	while (bin--) {
		struct list list = list_of(cache, bin, hidden);

		unmark(lists, &list, SIZE_MAX);
	}
	return false;
}

/*
 * Marks the chunks of a thread cache, with or without safe linking. A process has one C library, so
 * either all of its thread caches use safe linking or none does.
 */
static bool mark_either(struct free_lists *lists, const struct thread_cache *cache)
{
	if (lists->is_known)
		return mark_cache(lists, cache, lists->hidden);
	for (int hidden = 1; hidden >= 0; hidden--) {
		if (!mark_cache(lists, cache, hidden))
			continue;
		lists->is_known = true;
		lists->hidden = hidden;
		return true;
	}
	return false;
}

int free_lists_mark_caches(struct free_lists *lists)
{
	for (size_t i = 0; i < lists->heaps->cnt; i++) {
		struct heap_map *map = &lists->heaps->maps[i];

		for (size_t j = 0; j < map->cache_cnt; j++) {
			uint64_t addr = map->caches[j];
			struct thread_cache cache;

			if (heap_map_is_free(map, addr) ||
			    !thread_cache_read(lists->reader, addr, heap_map_size(map, addr),
					       &cache) ||
			    !mark_either(lists, &cache))
				continue;
			if (array_reserve(&lists->caches, &lists->cache_cap, lists->cache_cnt + 1))
				return -ENOMEM;
			lists->caches[lists->cache_cnt++] = addr;
		}
	}
	return 0;
}
