// SPDX-License-Identifier: GPL-2.0-or-later
/* Uses ioctl(PAGEMAP_SCAN), /proc/PID/pagemap, and lseek(SEEK_DATA). */
#include "proof/written_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limited_call.h"
#include "base/mapped_file.h"
#include "base/regular_file.h"
#include "proof/pagemap.h"

/* ABI of PAGEMAP_SCAN, as in linux/fs.h since 6.7. */
struct scan_region {
	__u64 start;
	__u64 end;
	__u64 categories;
};

struct scan {
	__u64 size;
	__u64 flags;
	__u64 start;
	__u64 end;
	__u64 walk_end; /* address where the scan stopped */
	__u64 regions;
	__u64 region_cnt;
	__u64 max_pages;
	__u64 category_inverted;
	__u64 category_mask;
	__u64 category_anyof_mask;
	__u64 return_mask;
};

#define SCAN _IOWR('f', 16, struct scan)
#define SCAN_FILE (1 << 2)
#define SCAN_PRESENT (1 << 3)
#define SCAN_SWAPPED (1 << 4)
#define SCAN_ZERO (1 << 5)
#define SCAN_REGIONS 512

/* Number of bytes of address space to scan in one call, which must end well within its limit. */
#define SCAN_BYTES (1ULL << 34)

/* Maximum number of pagemap entries to read at a time. */
#define ENTRIES 8192

bool written_pages_scans(int pagemap_fd)
{
	struct scan scan = {.size = sizeof(scan)};

	return !ioctl(pagemap_fd, SCAN, &scan);
}

static bool is_late(const struct written_pages *pages)
{
	return clock_ns(CLOCK_MONOTONIC) >= pages->deadline_ns;
}

/* A run of adjacent pages, which are visited together. */
struct page_run {
	uint64_t start;
	uint64_t end;
};

static int end_run(const struct written_pages *pages, struct page_run *run)
{
	struct page_run whole = *run;

	*run = (struct page_run){0};
	return whole.start < whole.end ? pages->visit(pages->arg, whole.start, whole.end) : 0;
}

static int add_to_run(const struct written_pages *pages, struct page_run *run, uint64_t start,
		      uint64_t end)
{
	int err = 0;

	if (run->end == start && run->start < run->end) {
		run->end = end;
		return 0;
	}
	err = end_run(pages, run);
	*run = (struct page_run){start, end};
	return err;
}

/* Data of a limited call. */
struct scan_request {
	struct scan scan;
	struct scan_region regions[SCAN_REGIONS];
};

static int run_scan(int pagemap_fd, void *data)
{
	struct scan_request *request = data;
	int cnt;

	request->scan.regions = (uintptr_t)request->regions;
	cnt = ioctl(pagemap_fd, SCAN, &request->scan);
	return cnt < 0 ? -errno : cnt;
}

/* Calls function->run(). Makes a limited call, unless the process never locks its memory map. */
static int call(const struct written_pages *pages, const struct limited_function *function,
		void *data)
{
	return pages->is_copy ? function->run(pages->pagemap_fd, data)
			      : limited_call(pages->pid, pages->pagemap_fd, function, data);
}

static int scan_pages(const struct written_pages *pages, uint64_t start, uint64_t end,
		      uint64_t without)
{
	static const struct limited_function function = {.run = run_scan,
							 .size = sizeof(struct scan_request)};
	struct scan_request request;
	struct page_run run = {0};
	int err = 0;

	while (!err && start < end) {
		int cnt;

		request.scan = (struct scan){
			.size = sizeof(request.scan),
			.start = start,
			.end = end - start > SCAN_BYTES ? start + SCAN_BYTES : end,
			.region_cnt = SCAN_REGIONS,
			.category_inverted = without,
			.category_mask = without,
			.category_anyof_mask = SCAN_PRESENT | SCAN_SWAPPED,
			.return_mask = SCAN_PRESENT,
		};
		cnt = call(pages, &function, &request);
		if (cnt == -EINTR)
			continue;
		if (cnt < 0)
			return cnt;
		for (int i = 0; !err && i < cnt; i++)
			err = add_to_run(pages, &run, request.regions[i].start,
					 request.regions[i].end);
		if (request.scan.walk_end <= start)
			break;
		start = request.scan.walk_end;
		if (!err && is_late(pages))
			err = -ETIMEDOUT;
	}
	return err ? err : end_run(pages, &run);
}

uint64_t written_pages_zero_frame(void)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	cleanup_close int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	const volatile char *at =
		mmap(NULL, 2 * page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t entries[2] = {0};

	if (at == MAP_FAILED)
		return 0;
	if (fd < 0 || at[0] || at[page_size] ||
	    pread(fd, entries, sizeof(entries),
		  (off_t)((uintptr_t)at / page_size * sizeof(*entries))) != sizeof(entries))
		entries[0] = 0;
	munmap((void *)at, 2 * page_size);
	/* Some kernels give each page a frame of its own. */
	return entries[0] & PAGEMAP_PRESENT && entries[0] == entries[1] ? entries[0] & PAGEMAP_FRAME
									: 0;
}

/*
 * True for the pagemap entry of the zero page. Entries of huge zero pages need no check: they have
 * the flag PAGEMAP_FILE, so they are skipped in private memory anyway.
 */
static bool is_zero(const struct written_pages *pages, uint64_t entry)
{
	return entry & PAGEMAP_PRESENT && pages->zero_frame &&
	       (entry & PAGEMAP_FRAME) == pages->zero_frame;
}

static int take_entries(const struct written_pages *pages, const uint64_t *entries, size_t cnt,
			uint64_t start, uint64_t without, struct page_run *run)
{
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++) {
		uint64_t at = start + i * pages->page_size;

		if (entries[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED) && !(entries[i] & without) &&
		    !is_zero(pages, entries[i]))
			err = add_to_run(pages, run, at, at + pages->page_size);
	}
	return err;
}

/* Data of a limited call. */
struct entries_request {
	uint64_t page; /* page number of the first entry */
	size_t cnt;
	uint64_t entries[ENTRIES];
};

static int run_read(int pagemap_fd, void *data)
{
	struct entries_request *request = data;
	ssize_t got = pread(pagemap_fd, request->entries, request->cnt * sizeof(*request->entries),
			    (off_t)(request->page * sizeof(*request->entries)));

	return got < 0 ? -errno : (int)((size_t)got / sizeof(*request->entries));
}

static int read_entries(const struct written_pages *pages, uint64_t start, uint64_t end,
			uint64_t without)
{
	static const struct limited_function function = {.run = run_read,
							 .size = sizeof(struct entries_request)};
	cleanup_free struct entries_request *request = calloc(1, sizeof(*request));
	struct page_run run = {0};
	int err = request ? 0 : -ENOMEM;

	while (!err && start < end) {
		uint64_t wanted = (end - start) / pages->page_size;
		int cnt;

		request->page = start / pages->page_size;
		request->cnt = wanted < ENTRIES ? wanted : ENTRIES;
		cnt = call(pages, &function, request);
		if (cnt == -EINTR)
			continue;
		if (cnt < 0)
			return cnt;
		if (!cnt)
			break;
		err = take_entries(pages, request->entries, (size_t)cnt, start, without, &run);
		start += (uint64_t)cnt * pages->page_size;
		if (!err && is_late(pages))
			err = -ETIMEDOUT;
	}
	return err ? err : end_run(pages, &run);
}

static int visit_tables(const struct written_pages *pages, uint64_t start, uint64_t end,
			bool with_files)
{
	if (pages->scans)
		return scan_pages(pages, start, end, SCAN_ZERO | (with_files ? 0 : SCAN_FILE));
	return read_entries(pages, start, end, with_files ? 0 : PAGEMAP_FILE);
}

int written_pages_of_memory(const struct written_pages *pages, uint64_t start, uint64_t end)
{
	return visit_tables(pages, start, end, false);
}

dev_t written_pages_kernel_dev(void)
{
	cleanup_close int fd = (int)memfd_create("own", MFD_CLOEXEC);
	struct file_id own = {0};

	return fd < 0 || mapped_file_id(fd, &own) ? 0 : own.dev;
}

int written_pages_open_file(pid_t pid, const struct mapping *mapping)
{
	char name[96];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/%d/map_files/%llx-%llx", (int)pid,
		 (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	return regular_file_open_link(pid, AT_FDCWD, name, &st);
}

/*
 * Visits the pages that exist in the in-memory file of a shared mapping, including those that are
 * swapped out or not in the page tables of the process.
 */
static int visit_data(const struct written_pages *pages, int fd, const struct mapping *mapping,
		      uint64_t start, uint64_t end)
{
	uint64_t before = mapping->start - mapping->offset, mask = pages->page_size - 1;
	int err = 0;

	while (!err && start < end) {
		off_t data = lseek(fd, (off_t)(start - before), SEEK_DATA), hole;
		uint64_t from, to;

		if (data < 0)
			return errno == ENXIO ? 0 : -errno;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole <= data)
			return hole < 0 ? -errno : 0;
		from = ((uint64_t)data + before) & ~mask;
		to = ((uint64_t)hole + before + mask) & ~mask;
		if (from < start)
			from = start;
		if (to > end)
			to = end;
		if (from >= to)
			break;
		err = pages->visit(pages->arg, from, to);
		start = to;
		if (!err && is_late(pages))
			err = -ETIMEDOUT;
	}
	return err;
}

int written_pages_of_file(const struct written_pages *pages, const struct mapping *mapping,
			  uint64_t start, uint64_t end)
{
	bool of_kernel = pages->kernel_dev && mapping->file.dev == pages->kernel_dev;
	cleanup_close int fd = of_kernel ? written_pages_open_file(pages->pid, mapping) : -1;

	if (fd >= 0)
		return visit_data(pages, fd, mapping, start, end);
	/* Skip the mapping: the process cannot write to it. */
	if (!mapping->writable)
		return 0;
	return visit_tables(pages, start, end, true);
}
