// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks up pages in /proc/PID/pagemap. Makes limited calls for pages that may have to be loaded. */
#include "proof/live_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/limited_call.h"
#include "proof/pagemap.h"

/* Maximum number of pagemap entries to read at a time. */
#define ENTRIES 64

/*
 * Maximum number of bytes to read in a limited call: of a file, whose server may be slow, and of
 * other memory.
 */
#define FILE_BYTES 4096
#define MEMORY_BYTES (64 << 10)

enum way {
	WAY_DIRECT,
	/*
	 * The page was never used, so it contains zeros. Reading it would make the kernel ask a
	 * handler of userfaultfd(2) for the page.
	 */
	WAY_ZEROS,
	WAY_LIMITED, /* the kernel may have to load the page from a file */
	WAY_NONE,    /* as WAY_LIMITED, but the server of the file may not answer */
};

/* Returns the way to read a page, given its pagemap entry. */
static enum way way_of(const struct mapping *mapping, uint64_t entry)
{
	bool is_used = entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED);

	if (!mapping->file.ino)
		return is_used ? WAY_DIRECT : WAY_ZEROS;
	if (is_used && !(entry & PAGEMAP_FILE))
		return WAY_DIRECT;
	return mapping->is_served ? WAY_NONE : WAY_LIMITED;
}

/* Data of a limited call that reads entries of pagemap. */
struct entries {
	size_t cnt; /* number of entries wanted */
	off_t offset;
	uint64_t items[ENTRIES];
};

static int run_read_entries(int pagemap_fd, void *data)
{
	struct entries *entries = data;

	return (int)pread(pagemap_fd, entries->items, entries->cnt * sizeof(*entries->items),
			  entries->offset);
}

/* Returns the number of bytes that were read, or a negative number. */
static int read_entries(const struct live_pages *pages, struct entries *entries)
{
	static const struct limited_function function = {.run = run_read_entries,
							 .size = sizeof(struct entries)};

	return pages->may_run ? limited_call(pages->pid, pages->pagemap_fd, &function, entries)
			      : run_read_entries(pages->pagemap_fd, entries);
}

/*
 * Finds the way to read the page at addr. *len: on entry, number of bytes wanted; on return, number
 * of bytes that can be read in this way. Returns 0, -ESRCH or -EAGAIN. Shared memory, and
 * usually the anonymous memory of a copy, are read directly: a copy has no handler of
 * userfaultfd(2).
 */
static int find_way(const struct live_pages *pages, const struct mapping *mapping, uint64_t addr,
		    size_t *len, enum way *ret)
{
	uint64_t page_size = pages->page_size, in_page = addr % page_size;
	struct entries entries = {.offset = (off_t)(addr / page_size * sizeof(*entries.items))};
	size_t cnt = (in_page + *len + page_size - 1) / page_size, same = 1;
	int got;

	*ret = WAY_DIRECT;
	if (mapping->shared || (!mapping->file.ino && pages->reads_unused))
		return 0;
	entries.cnt = cnt < ENTRIES ? cnt : ENTRIES;
	got = read_entries(pages, &entries);
	if (got < (int)sizeof(*entries.items))
		return got == -EAGAIN ? got : -ESRCH;
	cnt = (size_t)got / sizeof(*entries.items);
	*ret = way_of(mapping, entries.items[0]);
	while (same < cnt && way_of(mapping, entries.items[same]) == *ret)
		same++;
	if (*len > same * page_size - in_page)
		*len = same * page_size - in_page;
	return 0;
}

/* Memory to read, all in one mapping. */
struct piece {
	pid_t pid;
	uint64_t page_size;
	uint64_t addr;
	size_t len;
};

/*
 * If process_vm_readv() fails, as for a mapping without read permission, reads one page at a time
 * from /proc/PID/mem, because some of the pages may be guard pages.
 */
static ssize_t read_direct(const struct piece *piece, int mem_fd, char *buf)
{
	size_t done = 0;

	while (done < piece->len) {
		uint64_t addr = piece->addr + done;
		size_t left = piece->len - done,
		       in_page = piece->page_size - addr % piece->page_size;
		struct iovec to = {buf + done, left}, from = {(void *)(uintptr_t)addr, left};
		ssize_t got = process_vm_readv(piece->pid, &to, 1, &from, 1, 0);

		if (got < 0 && errno == ESRCH)
			return -ESRCH;
		if (got <= 0)
			got = pread(mem_fd, buf + done, in_page < left ? in_page : left,
				    (off_t)addr);
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* Data of a limited call that reads memory. */
struct limited_read {
	struct piece piece;
	char bytes[];
};

static int run_read(int mem_fd, void *data)
{
	struct limited_read *read = data;

	return (int)read_direct(&read->piece, mem_fd, read->bytes);
}

/* Returns the number of bytes, -EAGAIN if they cannot be read in time, or another error. */
static ssize_t read_limited(const struct piece *piece, int mem_fd,
			    const struct limited_function *function, char *buf)
{
	size_t room = function->size - sizeof(struct limited_read);
	cleanup_free struct limited_read *read = malloc(function->size);
	int got;

	if (!read)
		return -ENOMEM;
	read->piece = *piece;
	if (read->piece.len > room)
		read->piece.len = room;
	got = limited_call(piece->pid, mem_fd, function, read);
	if (got > 0)
		memcpy(buf, read->bytes, (size_t)got);
	return got;
}

static ssize_t read_memory(const struct live_pages *pages, const struct piece *piece, char *buf)
{
	static const struct limited_function function = {
		.run = run_read, .size = sizeof(struct limited_read) + MEMORY_BYTES};

	return pages->may_run ? read_limited(piece, pages->mem_fd, &function, buf)
			      : read_direct(piece, pages->mem_fd, buf);
}

/* Reads nothing if the pages cannot be loaded in time. */
static ssize_t read_file(const struct live_pages *pages, const struct piece *piece, char *buf)
{
	static const struct limited_function function = {
		.run = run_read, .size = sizeof(struct limited_read) + FILE_BYTES};
	ssize_t got = read_limited(piece, pages->mem_fd, &function, buf);

	return got == -EAGAIN ? 0 : got;
}

static ssize_t read_piece(const struct live_pages *pages, const struct piece *piece, enum way way,
			  char *buf)
{
	switch (way) {
	case WAY_DIRECT:
		return read_memory(pages, piece, buf);
	case WAY_LIMITED:
		return read_file(pages, piece, buf);
	case WAY_ZEROS:
		memset(buf, 0, piece->len);
		return (ssize_t)piece->len;
	case WAY_NONE:
		break;
	}
	return 0;
}

ssize_t live_pages_read(const struct live_pages *pages, const struct mapping *mapping,
			uint64_t addr, void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		struct piece piece = {
			.pid = pages->pid,
			.page_size = pages->page_size,
			.addr = addr + done,
			.len = len - done,
		};
		enum way way;
		ssize_t got = find_way(pages, mapping, piece.addr, &piece.len, &way);

		if (!got)
			got = read_piece(pages, &piece, way, (char *)buf + done);
		if (got < 0)
			return got;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}
