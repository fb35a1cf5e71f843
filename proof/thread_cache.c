// SPDX-License-Identifier: GPL-2.0-or-later
/* Layouts of tcache_perthread_struct in different versions of glibc. */
#include "proof/thread_cache.h"

#include <string.h>

#define MALLOC_ALIGN 16U
#define HEADER_BYTES 16U
#define SMALL_BINS 64U
#define SMALLEST 32U

/*
 * Layout of a thread cache: the counts of all lists, then pointers to the first chunk of each list.
 */
struct layout {
	uint64_t chunk_size;
	size_t count_bytes;
	size_t bin_cnt;
	bool counts_room;
};

static const struct layout layouts[] = {
	{.chunk_size = 0x250, .count_bytes = 1, .bin_cnt = SMALL_BINS},
	{.chunk_size = 0x290, .count_bytes = 2, .bin_cnt = SMALL_BINS},
	/*
	 * Each list after the first SMALL_BINS lists is for sizes from one power of two to the
	 * next.
	 */
	{.chunk_size = 0x300,
	 .count_bytes = 2,
	 .bin_cnt = THREAD_CACHE_BINS_MAX,
	 .counts_room = true},
};

/*
 * Finds the layout of a thread cache by the size of its chunk. A chunk may have up to 16 spare
 * bytes, which are too few for a chunk of their own.
 */
static const struct layout *layout_of(uint64_t size)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (size == layouts[i].chunk_size || size == layouts[i].chunk_size + MALLOC_ALIGN)
			return &layouts[i];
	return NULL;
}

static void read_bins(const struct layout *layout, const char *data, struct thread_cache *cache)
{
	const char *firsts = data + layout->count_bytes * layout->bin_cnt;

	cache->bin_cnt = layout->bin_cnt;
	cache->counts_room = layout->counts_room;
	for (size_t i = 0; i < layout->bin_cnt; i++) {
		uint64_t size = SMALLEST + i * MALLOC_ALIGN;
		uint8_t count;

		if (layout->count_bytes == sizeof(count)) {
			memcpy(&count, data + i, sizeof(count));
			cache->counts[i] = count;
		} else {
			memcpy(&cache->counts[i], data + i * sizeof(uint16_t), sizeof(uint16_t));
		}
		memcpy(&cache->firsts[i], firsts + i * sizeof(uint64_t), sizeof(uint64_t));
		cache->size_mins[i] = cache->size_maxs[i] = size;
		if (i >= SMALL_BINS) {
			cache->size_mins[i] = 1024ULL << (i - SMALL_BINS);
			cache->size_maxs[i] = (2048ULL << (i - SMALL_BINS)) + MALLOC_ALIGN;
		}
	}
}

/*
 * True if the counts and the pointers agree about which lists are empty, and at least one list is
 * not empty.
 */
static bool is_sound(const struct thread_cache *cache)
{
	uint16_t empty = 0;
	size_t filled = 0;

	for (size_t i = 0; cache->counts_room && i < cache->bin_cnt; i++)
		if (cache->counts[i] > empty)
			empty = cache->counts[i];
	for (size_t i = 0; i < cache->bin_cnt; i++) {
		if (cache->firsts[i] % MALLOC_ALIGN ||
		    (cache->firsts[i] == 0) != (cache->counts[i] == empty))
			return false;
		filled += cache->firsts[i] != 0;
	}
	return filled > 0;
}

bool thread_cache_read(struct heap_reader *reader, uint64_t addr, uint64_t size,
		       struct thread_cache *ret)
{
	const struct layout *layout = layout_of(size);
	struct thread_cache cache = {0};
	const char *data;

	if (!layout)
		return false;
	data = heap_reader_window(reader, addr + HEADER_BYTES,
				  (layout->count_bytes + sizeof(uint64_t)) * layout->bin_cnt);
	if (!data)
		return false;
	read_bins(layout, data, &cache);
	if (!is_sound(&cache))
		return false;
	*ret = cache;
	return true;
}
