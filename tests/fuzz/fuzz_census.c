// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the census of a heap, the counting of the heap's pages, the counting of Python's objects,
 * and the parser of smaps; "make fuzz" builds and runs it. The parser of smaps gets the whole
 * input. For the other three, the input describes a process's memory, as census_image.h says.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "prober/server/python_layout.h"
#include "proof/census.h"
#include "proof/heap_pages.h"
#include "proof/python_heap.h"
#include "proof/smaps.h"
#include "tests/fuzz/census_image.h"

#define PAGE 4096ULL

/* Maximum size of a region, in pages. Larger regions take time and reach no other code. */
#define PAGES_MAX 64U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct image {
	struct memory memory;
	struct mapping mappings[IMAGE_REGIONS_MAX];
	const uint8_t *bytes[IMAGE_REGIONS_MAX];
	size_t lens[IMAGE_REGIONS_MAX];
};

static ssize_t read_image(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	const struct image *image = (const struct image *)memory;
	const struct mapping *mapping = proc_maps_find(&memory->maps, addr);
	size_t at, stored;
	uint64_t skip;

	if (!mapping)
		return 0;
	at = (size_t)(mapping - memory->maps.mappings);
	skip = addr - mapping->start;
	if (len > mapping->end - addr)
		len = mapping->end - addr;
	stored = skip < image->lens[at] ? image->lens[at] - skip : 0;
	stored = stored < len ? stored : len;
	memset(buf, 0, len);
	if (stored)
		memcpy(buf, image->bytes[at] + skip, stored);
	return (ssize_t)len;
}

static int visit_all(const struct memory *memory, const struct mapping *mapping, uint64_t start,
		     uint64_t end, memory_visit_fn *visit, void *arg)
{
	return visit(arg, start, end);
}

static const struct memory_ops ops = {.read = read_image, .visit_written = visit_all};
static const char *const paths[IMAGE_KINDS] = {"/lib/libc.so.6", "[heap]", ""};

/*
 * Adds a region to the process's mappings. Returns false if it does not lie after all previous
 * regions, or lies in the upper half of the address space.
 */
static bool add_region(struct image *image, const struct image_region *region)
{
	struct proc_maps *maps = &image->memory.maps;
	uint64_t start = region->start & ~(PAGE - 1);
	uint64_t pages = region->pages % PAGES_MAX + 1;
	unsigned int kind = region->kind % IMAGE_KINDS;

	if ((maps->cnt && start < maps->mappings[maps->cnt - 1].end) || start > UINT64_MAX >> 1)
		return false;
	maps->mappings[maps->cnt++] = (struct mapping){.start = start,
						       .end = start + pages * PAGE,
						       .file.ino = kind == IMAGE_FILE,
						       .readable = true,
						       .writable = true,
						       .path = paths[kind]};
	return true;
}

static void read_regions(struct image *image, const uint8_t *data, size_t size)
{
	size_t cnt = size ? data[0] % (IMAGE_REGIONS_MAX + 1) : 0;
	const uint8_t *at = data + 1, *stored = at + cnt * sizeof(struct image_region);

	if (size < 1 + cnt * sizeof(struct image_region))
		return;
	for (size_t i = 0; i < cnt; i++) {
		size_t len = size - (size_t)(stored - data);
		struct image_region region;

		memcpy(&region, at + i * sizeof(region), sizeof(region));
		if (!add_region(image, &region))
			continue;
		len = len < region.bytes ? len : region.bytes;
		image->bytes[image->memory.maps.cnt - 1] = stored;
		image->lens[image->memory.maps.cnt - 1] = len;
		stored += len;
	}
}

struct seen {
	const struct image *image;
	uint64_t end;
	uint64_t page_end;
	struct heap_pages pages;
	struct census_sum sums[CHUNK_UNREAD + 1];
};

/*
 * Checks that pages come in order, and that each owner is 1, which look() passes for all chunks.
 * The live bytes may be up to twice the page's size, since chunks share words with their
 * neighbours.
 */
static void look_at_page(void *arg, const struct heap_page *page)
{
	struct seen *seen = arg;

	if (page->addr % PAGE || page->addr < seen->page_end || page->live_bytes > 2 * PAGE ||
	    page->rest < RSS_PINNED || (page->rest > RSS_TOP && page->rest != RSS_UNREAD) ||
	    page->owner_cnt > HEAP_PAGE_OWNERS_MAX)
		abort();
	seen->page_end = page->addr + PAGE;
	for (size_t i = 0; i < page->owner_cnt; i++)
		if (page->owners[i] != 1)
			abort();
}

/*
 * Checks that chunks come in order, do not overlap and begin in mapped memory. Adds their sizes to
 * the sums.
 */
static int look(void *arg, const struct chunk *chunk)
{
	struct seen *seen = arg;
	const struct mapping *mapping = proc_maps_find(&seen->image->memory.maps, chunk->addr);

	if (chunk->addr < seen->end || !chunk->size || !mapping)
		abort();
	seen->end = chunk->addr + chunk->size;
	if (seen->end < chunk->addr)
		abort();
	seen->sums[chunk->state].bytes += chunk->size;
	seen->sums[chunk->state].count++;
	heap_pages_add(&seen->pages, chunk, 1);
	return 0;
}

static void check(const struct census *census, const struct seen *seen)
{
	uint64_t end = 0;

	for (size_t i = 0; i < census->heap_cnt; i++) {
		if (census->heaps[i].start < end || census->heaps[i].end <= census->heaps[i].start)
			abort();
		end = census->heaps[i].end;
	}
	end = 0;
	for (size_t i = 0; i < census->unread_cnt; i++) {
		if (census->unread[i].start < end)
			abort();
		end = census->unread[i].end;
	}
	if (census->used.bytes + census->mapped.bytes != seen->sums[CHUNK_USED].bytes ||
	    census->free_.bytes != seen->sums[CHUNK_FREE].bytes ||
	    census->own.bytes != seen->sums[CHUNK_OWN].bytes ||
	    census->gaps.bytes != seen->sums[CHUNK_UNREAD].bytes ||
	    census->top_bytes > census->own.bytes)
		abort();
}

/* Counts Python's objects twice, because the second count is compared with the first. */
static void count_python(const struct memory *memory, const struct python_layout *layout)
{
	struct python_heap *heap = python_heap__new(NULL);
	struct python_growth growth;
	uint64_t items[PYTHON_CONTAINERS_MAX];

	for (uint64_t now_ns = 1; heap && now_ns < 3; now_ns++) {
		if (python_heap__read(heap, memory, layout, now_ns, UINT64_MAX, &growth, items))
			break;
		if (growth.class_cnt > PYTHON_CLASSES_MAX ||
		    growth.container_cnt > PYTHON_CONTAINERS_MAX)
			abort();
	}
	python_heap__free(heap);
}

static void take_census(const struct image *image)
{
	struct seen seen = {.image = image, .pages = {.page_size = PAGE, .visit = look_at_page}};
	struct census census;

	seen.pages.arg = &seen;
	if (census_take(&image->memory, look, &seen, &census))
		return;
	heap_pages_end(&seen.pages);
	check(&census, &seen);
	census_deinit(&census);
}

static void parse_smaps(const uint8_t *data, size_t size)
{
	struct smaps smaps;

	if (!smaps_parse((const char *)data, size, &smaps))
		smaps_deinit(&smaps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image = {.memory = {.ops = &ops, .page_size = PAGE}};

	parse_smaps(data, size);
	image.memory.maps.mappings = image.mappings;
	read_regions(&image, data, size);
	/* Versions 3.11 to 3.15 of Python; the layouts of all but the last are known. */
	count_python(&image.memory, python_layout_of((0x030bU + image.memory.maps.cnt % 5) << 16));
	take_census(&image);
	image.memory.changes = true;
	take_census(&image);
	return 0;
}
