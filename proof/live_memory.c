// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the process that has the memory of each mapping: the process itself, or its copy. */
#include "proof/live_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/prefix.h"
#include "base/proc.h"
#include "proof/arch.h"
#include "proof/live_pages.h"
#include "proof/written_pages.h"

bool live_memory_may_read(const struct mapping *mapping)
{
	const char *path = mapping->path;

	if (behind_prefix(path, "/dev/"))
		return behind_prefix(path, "/dev/shm/") || !strcmp(path, "/dev/zero");
	/* PCI devices expose their memory as files in /sys. */
	return !behind_prefix(path, "/sys/") && !behind_prefix(path, "[vvar") &&
	       !behind_prefix(path, "[vsyscall");
}

/*
 * True if the mapping was taken from the list of the original process. Such a mapping shares its
 * path string with that list.
 */
static bool is_of(const struct live_memory *original, const struct mapping *mapping)
{
	const struct mapping *own = proc_maps_find(&original->memory.maps, mapping->start);

	return own && own->path == mapping->path;
}

/* Returns the pages of the process that has the memory of a mapping. */
static struct live_pages pages_of(const struct live_memory *live, const struct mapping *mapping)
{
	bool of_original = live->original && is_of(live->original, mapping);
	const struct live_memory *owner = of_original ? live->original : live;

	return (struct live_pages){
		.pid = owner->pid,
		.mem_fd = owner->mem_fd,
		.pagemap_fd = owner->pagemap_fd,
		.page_size = live->memory.page_size,
		.reads_unused = owner->original && owner->zero_frame,
		.may_run = of_original,
	};
}

static ssize_t read_live(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	const struct live_memory *live = (const struct live_memory *)memory;
	size_t done = 0;

	while (done < len) {
		const struct mapping *mapping = proc_maps_find(&memory->maps, addr + done);
		struct live_pages pages;
		size_t wanted = len - done;
		ssize_t got;

		if (!mapping || !live_memory_may_read(mapping))
			break;
		if (wanted > mapping->end - addr - done)
			wanted = mapping->end - addr - done;
		pages = pages_of(live, mapping);
		got = live_pages_read(&pages, mapping, addr + done, (char *)buf + done, wanted);
		if (got < 0)
			return got;
		done += (size_t)got;
		if ((size_t)got < wanted)
			break;
	}
	return (ssize_t)done;
}

static int visit_written(const struct memory *memory, const struct mapping *mapping, uint64_t start,
			 uint64_t end, memory_visit_fn *visit, void *arg)
{
	const struct live_memory *live = (const struct live_memory *)memory;
	/*
	 * For shared memory, use the page tables of the original process: a copy has no page tables
	 * for it.
	 */
	bool of_original = live->original && (mapping->shared || is_of(live->original, mapping));
	struct written_pages pages = {
		.pid = of_original ? live->original->pid : live->pid,
		.pagemap_fd = of_original ? live->original->pagemap_fd : live->pagemap_fd,
		.is_copy = live->original && !of_original,
		.page_size = memory->page_size,
		.deadline_ns = live->deadline_ns,
		.scans = live->scans,
		.kernel_dev = live->kernel_dev,
		.zero_frame = live->zero_frame,
		.visit = visit,
		.arg = arg,
	};

	if (!live_memory_may_read(mapping))
		return 0;
	return mapping->shared ? written_pages_of_file(&pages, mapping, start, end)
			       : written_pages_of_memory(&pages, start, end);
}

static void close_live(struct memory *memory)
{
	struct live_memory *live = (struct live_memory *)memory;

	if (live->mem_fd >= 0)
		close(live->mem_fd);
	if (live->pagemap_fd >= 0)
		close(live->pagemap_fd);
	live->mem_fd = live->pagemap_fd = -1;
	if (live->original)
		live_memory_deinit(live->original);
	free(live->original);
	live->original = NULL;
}

/*
 * Returns 0 if the file of a mapping may be read, -EREMOTE if its server may not answer, or -EAGAIN
 * if a server does not answer now.
 */
static int check_server(pid_t pid, const struct mapping *mapping)
{
	int fd = written_pages_open_file(pid, mapping);

	if (fd >= 0)
		close(fd);
	return fd == -EREMOTE || fd == -EAGAIN ? fd : 0;
}

/*
 * Marks the private mappings of files whose server may not answer, and removes shared mappings of
 * such files. Checks only the first of adjacent mappings of one device, unless it is served.
 * Returns 0, or -EAGAIN if a writable shared mapping cannot be checked now: without its pointers,
 * blocks would seem lost.
 */
static int mark_served(const struct live_memory *live, struct proc_maps *maps)
{
	dev_t safe = live->kernel_dev;
	size_t kept = 0;

	for (size_t i = 0; i < maps->cnt; i++) {
		struct mapping mapping = maps->mappings[i];
		bool is_known = !mapping.file.ino || mapping.file.dev == safe;
		int err = is_known ? 0 : check_server(live->pid, &mapping);

		if (err == -EAGAIN && mapping.shared && mapping.writable)
			return err;
		if (!err && mapping.file.ino)
			safe = mapping.file.dev;
		mapping.is_served = err != 0;
		if (!err || !mapping.shared)
			maps->mappings[kept++] = mapping;
	}
	maps->cnt = kept;
	return 0;
}

static const struct memory_ops ops = {
	.read = read_live,
	.visit_written = visit_written,
	.free = close_live,
};

void live_memory_deinit(struct live_memory *live)
{
	ops.free(&live->memory);
	proc_maps_deinit(&live->memory.maps);
}

int live_memory_init(pid_t pid, uint64_t deadline_ns, struct live_memory *ret)
{
	pid_t shown = proc_living_thread(pid);
	struct live_memory live = {
		.memory = {.ops = &ops,
			   .page_size = (uint64_t)sysconf(_SC_PAGESIZE),
			   .ignored_bits = pointer_ignored_bits},
		.pid = shown,
		.mem_fd = proc_open(shown, "mem", O_RDONLY),
		.pagemap_fd = proc_open(shown, "pagemap", O_RDONLY),
		.deadline_ns = deadline_ns,
	};
	int err = live.mem_fd < 0       ? live.mem_fd
		  : live.pagemap_fd < 0 ? live.pagemap_fd
					: proc_maps_read(shown, &live.memory.maps);

	if (!err && !live.memory.maps.cnt)
		err = -ESRCH;
	live.kernel_dev = written_pages_kernel_dev();
	if (!err)
		err = mark_served(&live, &live.memory.maps);
	if (err) {
		live_memory_deinit(&live);
		return err;
	}
	live.scans = written_pages_scans(live.pagemap_fd);
	live.zero_frame = written_pages_zero_frame();
	*ret = live;
	return 0;
}

static bool overlaps(const struct proc_maps *maps, const struct mapping *mapping)
{
	size_t at = bisect_upto(maps->mappings, maps->cnt, end, mapping->start);

	return at < maps->cnt && maps->mappings[at].start < mapping->end;
}

static int by_start(const void *a, const void *b)
{
	const struct mapping *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

/*
 * Adds the mappings of the original process that the copy does not have. Their path strings still
 * belong to the original process's list.
 */
static int add_missing(struct proc_maps *maps, const struct proc_maps *original)
{
	size_t cap = maps->cnt, cnt = maps->cnt;

	if (array_reserve(&maps->mappings, &cap, maps->cnt + original->cnt))
		return -ENOMEM;
	for_each_mapping (mapping, original)
		if (!overlaps(maps, mapping))
			maps->mappings[cnt++] = *mapping;
	maps->cnt = cnt;
	qsort(maps->mappings, cnt, sizeof(*maps->mappings), by_start);
	return 0;
}

static int stop_at_first(void *arg, uint64_t start, uint64_t end)
{
	return 1;
}

/* Returns 1 if the process has written to a page of the mapping, 0 if not, or a negative errno. */
static int find_page(const struct live_memory *live, const struct mapping *mapping)
{
	return visit_written(&live->memory, mapping, mapping->start, mapping->end, stop_at_first,
			     NULL);
}

/*
 * Replaces each mapping that the kernel has wiped in the copy (MADV_WIPEONFORK) with that of the
 * original process. A private mapping was wiped if it has pages in the original process, but none
 * in the copy. Returns 0, or -EAGAIN if the original process keeps its memory map locked.
 */
static int take_wiped(struct live_memory *live)
{
	struct proc_maps *maps = &live->memory.maps;

	for (size_t i = 0; i < maps->cnt; i++) {
		struct mapping *mapping = &maps->mappings[i];
		const struct mapping *own =
			proc_maps_find(&live->original->memory.maps, mapping->start);
		int found;

		if (!own || own->path == mapping->path || mapping->shared || mapping->file.ino ||
		    own->shared || own->file.ino || own->end != mapping->end)
			continue;
		found = find_page(live, mapping) == 1 ? 0 : find_page(live->original, own);
		if (found == -EAGAIN)
			return found;
		if (found == 1)
			*mapping = *own;
	}
	return 0;
}

int live_memory_init_copy(pid_t copy, pid_t pid, uint64_t deadline_ns, struct live_memory *ret)
{
	struct live_memory *original = calloc(1, sizeof(*original));
	struct live_memory live;
	int err = original ? live_memory_init(pid, deadline_ns, original) : -ENOMEM;

	if (!err)
		err = live_memory_init(copy, deadline_ns, &live);
	if (err) {
		if (original && original->memory.ops)
			live_memory_deinit(original);
		free(original);
		return err;
	}
	live.original = original;
	err = add_missing(&live.memory.maps, &original->memory.maps);
	if (!err)
		err = take_wiped(&live);
	if (err) {
		live_memory_deinit(&live);
		return err;
	}
	*ret = live;
	return 0;
}
