// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes a census of glibc's heap, and counts the resident pages of the heap by the chunks on them.
 * All other resident memory is counted by mapping.
 */
#include "proof/rss_count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/prefix.h"
#include "proof/census.h"
#include "proof/heap_pages.h"
#include "proof/python_free.h"
#include "proof/python_heap.h"
#include "proof/resident_memory.h"

/*
 * Maximum size in bytes of a guard, which is a mapping without permissions below a thread's stack.
 */
#define GUARD_BYTES (64U << 10)

struct count {
	struct resident_memory resident;
	const struct rss_blocks *blocks;
	size_t next_block;  /* index of the first block that pass_blocks() has not handled yet */
	uint64_t chunk_end; /* end address of the most recent chunk */
	const struct smaps *smaps;
	/* smaps of the process whose copy is read; NULL if no copy is read */
	const struct smaps *original;
	uint64_t *counted; /* for each mapping: bytes that were counted as pages of the heap */
	uint64_t *pinned;  /* for each site: free bytes that its blocks pin */
	size_t site_cnt;
	struct rss rss;
};

/* Owner of used chunks without a tracked block (see heap_pages.h) */
#define OLDER (HEAP_PAGE_NO_OWNER - 1)

static void charge_owners(struct count *count, const struct heap_page *page, uint64_t bytes)
{
	for (size_t i = 0; i < page->owner_cnt; i++) {
		uint64_t share = bytes / (page->owner_cnt - i);

		bytes -= share;
		if (page->owners[i] < count->site_cnt)
			count->pinned[page->owners[i]] += share;
		else if (page->owners[i] == OLDER)
			count->rss.pinned_by_older += share;
	}
}

/*
 * Counts a page of the heap, if it is resident. Skips pages of files, such as the C library's data
 * with the main arena: these count as memory of the file.
 */
static void count_page(void *arg, const struct heap_page *page)
{
	struct count *count = arg;
	const struct mapping *mapping = resident_memory_mapping(&count->resident, page->addr);
	uint64_t page_size = count->resident.memory.page_size, live_bytes = page->live_bytes;

	if (!mapping || mapping->file.ino ||
	    resident_page(&count->resident.pages, page->addr) != PAGE_OWN)
		return;
	if (live_bytes > page_size)
		live_bytes = page_size;
	count->counted[mapping - count->smaps->maps.mappings] += page_size;
	count->rss.parts[RSS_LIVE] += live_bytes;
	count->rss.parts[page->rest] += page_size - live_bytes;
	if (page->rest == RSS_TOP && !strcmp(mapping->path, "[heap]"))
		count->rss.main_top += page_size - live_bytes;
	if (page->rest == RSS_PINNED)
		charge_owners(count, page, page_size - live_bytes);
}

/* True if a guard is directly below the mapping, as below a thread's stack. */
static bool is_guarded(const struct proc_maps *maps, size_t i)
{
	const struct mapping *before = &maps->mappings[i ? i - 1 : 0];

	return i && before->end == maps->mappings[i].start && !before->readable &&
	       !before->writable && !before->file.ino && before->end - before->start <= GUARD_BYTES;
}

static enum rss_part part_of(const struct proc_maps *maps, size_t i)
{
	static const char *const shared_prefixes[] = {"/memfd:", "/dev/shm/", "/SYSV"};
	const struct mapping *mapping = &maps->mappings[i];
	/* The kernel shows shared anonymous memory as /dev/zero, too. */
	bool anonymous = !mapping->file.ino || !strcmp(mapping->path, "/dev/zero");

	if (has_prefix_of(mapping->path, shared_prefixes,
			  sizeof(shared_prefixes) / sizeof(*shared_prefixes)))
		return RSS_SHARED;
	if (!anonymous)
		return RSS_FILES;
	if (mapping->shared)
		return RSS_SHARED;
	if (!strcmp(mapping->path, "[stack]"))
		return RSS_STACKS;
	if (mapping->path[0] == '[' && strcmp(mapping->path, "[heap]") != 0 &&
	    !behind_prefix(mapping->path, "[anon:"))
		return RSS_OTHER;
	return is_guarded(maps, i) ? RSS_STACKS : RSS_MAPPED;
}

/*
 * Returns the number of resident bytes of a block; 0 if the block is not in private anonymous
 * memory, or is in a stack.
 */
static uint64_t resident_bytes(struct count *count, const struct heap_block *block)
{
	uint64_t page_size = count->resident.memory.page_size, end = block->addr + block->size,
		 sum = 0;
	const struct mapping *mapping = resident_memory_mapping(&count->resident, block->addr);

	if (!mapping || part_of(&count->smaps->maps,
				(size_t)(mapping - count->smaps->maps.mappings)) != RSS_MAPPED)
		return 0;
	if (end > mapping->end)
		end = mapping->end;
	for (uint64_t at = block->addr, next; at < end; at = next) {
		next = (at / page_size + 1) * page_size;
		if (resident_page(&count->resident.pages, at) == PAGE_OWN)
			sum += (next < end ? next : end) - at;
	}
	return sum;
}

/*
 * Moves next_block to the first block at addr or above. Adds the resident bytes of the blocks in
 * between to rss.outside, except for blocks that begin in the most recent chunk.
 */
static void pass_blocks(struct count *count, uint64_t addr)
{
	const struct rss_blocks *blocks = count->blocks;

	for (; count->next_block < blocks->cnt && blocks->items[count->next_block].addr < addr;
	     count->next_block++)
		if (blocks->items[count->next_block].addr >= count->chunk_end)
			count->rss.outside +=
				resident_bytes(count, &blocks->items[count->next_block]);
}

/*
 * Returns the site of the block in a used chunk. If a used chunk has no tracked block, counts the
 * chunk as older and returns OLDER. Returns HEAP_PAGE_NO_OWNER if the chunk is not used. Call with
 * chunks in ascending order.
 */
static uint32_t find_owner(struct count *count, const struct chunk *chunk)
{
	const struct rss_blocks *blocks = count->blocks;
	struct reach_sum *older = &count->rss.older[heap_class_of(chunk->size)];

	pass_blocks(count, chunk->addr);
	count->chunk_end = chunk->addr + chunk->size;
	if (chunk->state != CHUNK_USED)
		return HEAP_PAGE_NO_OWNER;
	if (count->next_block < blocks->cnt &&
	    blocks->items[count->next_block].addr < count->chunk_end)
		return heap_block_site(&blocks->items[count->next_block]);
	older->bytes += chunk->size;
	older->count++;
	return OLDER;
}

static int add_chunk(void *arg, const struct chunk *chunk)
{
	struct heap_pages *pages = arg;
	struct count *count = pages->arg;
	uint32_t owner = HEAP_PAGE_NO_OWNER;

	if (count->blocks->is_known)
		owner = find_owner(count, chunk);
	heap_pages_add(pages, chunk, owner);
	return 0;
}

/*
 * Counts the resident pages of an address range whose chunks are not known. Skips pages that are
 * only partly in the range: they may have been counted as pages of a heap.
 */
static void count_unread(struct count *count, const struct heap_range *range)
{
	const struct proc_maps *maps = &count->smaps->maps;
	uint64_t page_size = count->resident.memory.page_size;

	for (size_t i = bisect_upto(maps->mappings, maps->cnt, end, range->start);
	     i < maps->cnt && maps->mappings[i].start < range->end; i++) {
		const struct mapping *mapping = &maps->mappings[i];
		uint64_t end = mapping->end < range->end ? mapping->end : range->end;
		uint64_t at = mapping->start > range->start ? mapping->start : range->start;

		at = (at + page_size - 1) / page_size * page_size;
		end -= end % page_size;
		for (; !mapping->file.ino && at < end; at += page_size) {
			if (resident_page(&count->resident.pages, at) != PAGE_OWN)
				continue;
			count->rss.parts[RSS_UNREAD] += page_size;
			count->counted[i] += page_size;
		}
	}
}

static int count_heap(struct count *count)
{
	struct heap_pages pages = {
		.page_size = count->resident.memory.page_size, .visit = count_page, .arg = count};
	struct census census = {0};
	int err = census_take(&count->resident.memory, add_chunk, &pages, &census);

	if (err)
		return err;
	heap_pages_end(&pages);
	pass_blocks(count, UINT64_MAX);
	for (size_t i = 0; i < census.unread_cnt; i++)
		count_unread(count, &census.unread[i]);
	count->rss.has_blocks = count->blocks->is_known;
	count->rss.arenas = census.arena_cnt;
	count->rss.torn_arenas = census.torn_cnt;
	count->rss.skipped_arenas = census.skipped_cnt;
	census_deinit(&census);
	return 0;
}

/*
 * Returns the resident bytes of mapping `i`. If `smaps` is that of a copy of the process, returns
 * the value of the original process for shared mappings and mappings of files, whose pages the copy
 * may lack. Returns the copy's value for private anonymous memory, and for mappings that the
 * original process no longer has.
 */
static uint64_t rss_of(const struct count *count, size_t i)
{
	const struct mapping *mapping = &count->smaps->maps.mappings[i], *now = NULL;

	if (count->original && (mapping->shared || mapping->file.ino))
		now = proc_maps_find(&count->original->maps, mapping->start);
	return now && now->start == mapping->start
		       ? count->original->rss[now - count->original->maps.mappings]
		       : count->smaps->rss[i];
}

/*
 * Adds the resident bytes of mappings that the original process has and its copy did not inherit.
 */
static void count_uninherited(struct count *count)
{
	const struct proc_maps *maps = &count->smaps->maps, *all = &count->original->maps;
	size_t at = 0;

	for (size_t i = 0; i < all->cnt; i++) {
		while (at < maps->cnt && maps->mappings[at].end <= all->mappings[i].start)
			at++;
		if (at == maps->cnt || maps->mappings[at].start >= all->mappings[i].end)
			count->rss.parts[part_of(all, i)] += count->original->rss[i];
	}
}

/* Returns how many bytes of mapping `i` are resident now, at most `max`. */
static uint64_t resident_now(struct count *count, size_t i, uint64_t max)
{
	const struct mapping *mapping = &count->smaps->maps.mappings[i];
	uint64_t page_size = count->resident.memory.page_size, sum = 0;

	for (uint64_t at = mapping->start; at < mapping->end && sum < max; at += page_size)
		if (resident_page(&count->resident.pages, at) == PAGE_OWN)
			sum += page_size;
	return sum < max ? sum : max;
}

/*
 * Adds the resident bytes of mapping `i`, except the bytes counted as pages of the heap, to the sum
 * for the kind of the mapping; to RSS_MAPPED if the mapping has pages of the heap. Of such a
 * mapping, and of a mapping that brk() made, leaves out the memory that the process has returned to
 * the kernel after smaps was read.
 */
static void add_rest(struct count *count, size_t i, uint64_t rss)
{
	const struct mapping *mapping = &count->smaps->maps.mappings[i];
	uint64_t counted = count->counted[i];
	enum rss_part part = counted ? RSS_MAPPED : part_of(&count->smaps->maps, i);

	if (rss > counted && (counted || !strcmp(mapping->path, "[heap]")))
		rss = resident_now(count, i, rss);
	if (rss > counted)
		count->rss.parts[part] += rss - counted;
	if (rss && !counted && part == RSS_MAPPED && mapping->writable)
		count->rss.room += mapping->end - mapping->start - rss;
}

/*
 * Adds the resident bytes of each mapping, except those counted as pages of the heap. If more pages
 * of the heap were counted than the kernel reports as resident, subtracts the excess from RSS_LIVE.
 */
static void count_rest(struct count *count)
{
	const struct proc_maps *maps = &count->smaps->maps;
	uint64_t excess = 0;

	for (size_t i = 0; i < maps->cnt; i++) {
		uint64_t rss = rss_of(count, i), counted = count->counted[i];

		if (rss >= counted)
			add_rest(count, i, rss);
		else
			excess += counted - rss;
	}
	if (excess > count->rss.parts[RSS_LIVE])
		excess = count->rss.parts[RSS_LIVE];
	count->rss.parts[RSS_LIVE] -= excess;
	if (count->original)
		count_uninherited(count);
}

/* Moves the free memory in Python's pools, which count_rest() has counted, to a part of its own. */
static void count_python(struct count *count)
{
	uint64_t *parts = count->rss.parts, bytes;

	if (!python_heap_is_in(&count->smaps->maps))
		return;
	bytes = python_free_bytes(&count->resident.memory);
	if (bytes > parts[RSS_MAPPED])
		bytes = parts[RSS_MAPPED];
	parts[RSS_MAPPED] -= bytes;
	parts[RSS_PYTHON] = bytes;
}

/* Finds an allocator by the name of its file. */
static enum rss_allocator find_allocator(const struct proc_maps *maps)
{
	static const struct {
		const char *name;
		enum rss_allocator allocator;
	} files[] = {
		{"/libjemalloc", ALLOCATOR_JEMALLOC},
		{"/libtcmalloc", ALLOCATOR_TCMALLOC},
		{"/libmimalloc", ALLOCATOR_MIMALLOC},
		{"/ld-musl-", ALLOCATOR_MUSL},
		/* On Debian, ld-musl is a link to this file. */
		{"-linux-musl/libc.so", ALLOCATOR_MUSL},
	};

	for_each_mapping (mapping, maps)
		for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
			if (strstr(mapping->path, files[i].name))
				return files[i].allocator;
	return ALLOCATOR_NONE;
}

/* Returns the highest index of a site plus one; 0 if no block has a site. */
static size_t count_sites(const struct rss_blocks *blocks)
{
	size_t cnt = 0;

	for (size_t i = 0; i < blocks->cnt; i++) {
		uint32_t site = heap_block_site(&blocks->items[i]);

		if (site != HEAP_BLOCK_NO_SITE && site >= cnt)
			cnt = (size_t)site + 1;
	}
	return cnt;
}

/*
 * Adds a site to the sites that pin the most bytes, unless the list is full of sites that pin at
 * least as many.
 */
static void rank_pinner(struct rss_pinners *pinners, uint32_t site, uint64_t bytes)
{
	size_t at = pinners->cnt;

	if (at == RSS_PINNERS_MAX && bytes <= pinners->items[at - 1].bytes)
		return;
	at -= at == RSS_PINNERS_MAX;
	for (; at && pinners->items[at - 1].bytes < bytes; at--)
		pinners->items[at] = pinners->items[at - 1];
	pinners->items[at] = (struct rss_pinner){site, bytes};
	pinners->cnt += pinners->cnt < RSS_PINNERS_MAX;
}

/*
 * True if the process still has its memory. Without this check, a process that ended during the
 * count would seem to have no memory. Reads page 0, which is usually unmapped: no page has to be
 * loaded. The read fails if the process has memory, and returns 0 otherwise.
 */
static bool is_alive(const struct count *count)
{
	char byte;

	return pread(count->resident.mem_fd, &byte, 1, 0) != 0;
}

int rss_count(const struct rss_files *files, const struct rss_blocks *blocks,
	      const struct smaps *smaps, const struct smaps *original, struct rss *ret,
	      struct rss_pinners *ret_pinners)
{
	size_t site_cnt = count_sites(blocks);
	cleanup_free uint64_t *counted = calloc(smaps->maps.cnt + 1, sizeof(*counted));
	cleanup_free uint64_t *pinned = calloc(site_cnt + 1, sizeof(*pinned));
	struct count count = {
		.blocks = blocks,
		.smaps = smaps,
		.original = original,
		.counted = counted,
		.pinned = pinned,
		.site_cnt = site_cnt,
	};
	int err = counted && pinned ? 0 : -ENOMEM;

	resident_memory_init(files, &smaps->maps, &count.resident);
	if (!err)
		err = count_heap(&count);

	if (!err && !is_alive(&count))
		err = -ESRCH;
	if (err)
		return err;
	count_rest(&count);
	count_python(&count);
	count.rss.huge = original ? original->huge : smaps->huge;
	count.rss.swapped = original ? original->swapped : smaps->swapped;
	count.rss.allocator = find_allocator(&smaps->maps);
	*ret = count.rss;
	ret_pinners->cnt = 0;
	for (size_t i = 0; i < site_cnt; i++)
		if (pinned[i])
			rank_pinner(ret_pinners, (uint32_t)i, pinned[i]);
	return 0;
}
