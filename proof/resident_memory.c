// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the memory of a running process: runs of resident pages in one step, other pages one by
 * one.
 */
#include "proof/resident_memory.h"

#include <string.h>
#include <unistd.h>

#include "proof/live_memory.h"

const struct mapping *resident_memory_mapping(struct resident_memory *resident, uint64_t addr)
{
	const struct mapping *last = resident->mapping;

	if (!last || addr < last->start || addr >= last->end)
		resident->mapping = proc_maps_find(&resident->memory.maps, addr);
	return resident->mapping;
}

bool resident_memory_has(const struct mapping *mapping)
{
	return mapping->readable && !mapping->shared && live_memory_may_read(mapping);
}

/*
 * Reads up to len bytes, at most to the end of the page. Reads zeros if the page is not resident.
 */
static ssize_t read_page(struct resident_memory *resident, uint64_t addr, char *buf, size_t len)
{
	const struct mapping *mapping = resident_memory_mapping(resident, addr);
	uint64_t page_size = resident->memory.page_size, in_page = page_size - addr % page_size;

	if (!mapping || !resident_memory_has(mapping))
		return 0;
	if (len > in_page)
		len = in_page;
	if (resident_page(&resident->pages, addr) != PAGE_ABSENT)
		return pread(resident->mem_fd, buf, len, (off_t)addr);
	memset(buf, 0, len);
	return (ssize_t)len;
}

/*
 * Returns the number of bytes, at most len, from addr to the next page that is not resident, or to
 * the end of the mapping.
 */
static size_t resident_len(struct resident_memory *resident, uint64_t addr, size_t len)
{
	const struct mapping *mapping = resident_memory_mapping(resident, addr);
	uint64_t page_size = resident->memory.page_size, end = addr + len, at = addr;

	if (!mapping || !resident_memory_has(mapping))
		return 0;
	if (end > mapping->end)
		end = mapping->end;
	while (at < end && resident_page(&resident->pages, at) != PAGE_ABSENT)
		at = (at / page_size + 1) * page_size;
	return at > end ? end - addr : at - addr;
}

static ssize_t read_memory(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	struct resident_memory *resident = (struct resident_memory *)(uintptr_t)memory;
	size_t done = 0;

	while (done < len) {
		size_t run = resident_len(resident, addr + done, len - done);
		char *to = (char *)buf + done;
		ssize_t got = run ? pread(resident->mem_fd, to, run, (off_t)(addr + done))
				  : read_page(resident, addr + done, to, len - done);

		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static int visit_written(const struct memory *memory, const struct mapping *mapping, uint64_t start,
			 uint64_t end, memory_visit_fn *visit, void *arg)
{
	struct resident_memory *resident = (struct resident_memory *)(uintptr_t)memory;
	int ret = 0;

	if (!resident_memory_has(mapping))
		return 0;
	for (uint64_t at = start; !ret && at < end; at += memory->page_size) {
		uint64_t from = at;

		while (at < end && resident_page(&resident->pages, at) == PAGE_OWN)
			at += memory->page_size;
		if (at > from)
			ret = visit(arg, from, at);
	}
	return ret;
}

static void free_nothing(struct memory *memory)
{
}

static const struct memory_ops ops = {read_memory, visit_written, free_nothing};

void resident_memory_init(const struct rss_files *files, const struct proc_maps *maps,
			  struct resident_memory *ret)
{
	*ret = (struct resident_memory){
		.memory = {.ops = &ops,
			   .maps = *maps,
			   .page_size = files->page_size,
			   .changes = true},
		.mem_fd = files->mem_fd,
		.pages = {.pagemap_fd = files->pagemap_fd,
			  .page_size = files->page_size,
			  .zero_frame = files->zero_frame},
	};
}
