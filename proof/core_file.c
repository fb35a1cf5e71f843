// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the headers of a core file, and its memory on demand. */
#include "proof/core_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "base/read_at.h"

#define WORD_MASK (sizeof(uint64_t) - 1)
#define PAGE_BYTES 4096
#define PAGE_BYTES_MAX (1 << 20)

/*
 * End of user addresses on all supported processors. Above it there are only the kernel's own
 * mappings, such as [vsyscall].
 */
#define ADDRESSES_END (1ULL << 56)

/* Maximum program headers, far above the kernel's default limit of 65,530 mappings per process. */
#define HEADERS_MAX (1 << 22)
#define HEADERS_AT_ONCE 256

static const struct core_file *core_of(const struct memory *memory)
{
	return (const struct core_file *)memory;
}

/* Returns the segment that contains addr, or the next segment above addr; NULL if there is none. */
static const struct core_segment *segment_from(const struct core_file *core, uint64_t addr)
{
	size_t at = bisect_upto(core->segments, core->segment_cnt, end, addr);

	return at < core->segment_cnt ? &core->segments[at] : NULL;
}

static ssize_t read_memory(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	const struct core_file *core = core_of(memory);
	size_t done = 0;

	while (done < len && addr + done >= addr) {
		const struct core_segment *segment = segment_from(core, addr + done);
		size_t part = len - done;
		uint64_t inside;
		ssize_t got;

		if (!segment || segment->start > addr + done)
			break;
		inside = addr + done - segment->start;
		if (inside >= segment->bytes)
			break;
		if (part > segment->bytes - inside)
			part = segment->bytes - inside;
		got = read_at(core->fd, (char *)buf + done, part, segment->at + inside);
		if (got < 0)
			return got;
		done += (size_t)got;
		if ((size_t)got < part)
			break;
	}
	return (ssize_t)done;
}

/*
 * Visits a segment's content from `start` to `end`. Skips holes in the core file: they stand for
 * untouched pages.
 */
static int visit_data(const struct core_file *core, const struct core_segment *segment,
		      uint64_t start, uint64_t end, memory_visit_fn *visit, void *arg)
{
	const uint64_t shift = segment->start - segment->at, page_mask = PAGE_BYTES - 1;
	int err = 0;

	while (!err && start < end) {
		off_t data = lseek(core->fd, (off_t)(start - shift), SEEK_DATA), hole;
		uint64_t stop = end;

		if (data < 0 && errno == ENXIO)
			return 0;
		/*
		 * lseek() fails if the file system does not support SEEK_DATA: visit the whole
		 * range.
		 */
		if (data < 0)
			return visit(arg, start, end);
		hole = lseek(core->fd, data, SEEK_HOLE);
		if ((((uint64_t)data + shift) & ~page_mask) > start)
			start = ((uint64_t)data + shift) & ~page_mask;
		if (hole >= 0 && (uint64_t)hole + shift < end)
			stop = ((uint64_t)hole + shift + WORD_MASK) & ~WORD_MASK;
		if (start >= end || stop <= start)
			return 0;
		err = visit(arg, start, stop);
		start = stop;
	}
	return err;
}

/*
 * True if the process may have written to the mapping. A core contains at most the first page of a
 * file mapping that was never modified, to identify the file. It contains all of a modified
 * mapping, even if the mapping is read-only now, like relocated data (RELRO).
 */
static bool may_be_written(const struct mapping *mapping, const struct core_segment *segment)
{
	if (mapping->writable || !*mapping->path)
		return true;
	return !mapping->executable && segment->bytes >= (segment->end - segment->start);
}

static int visit_written(const struct memory *memory, const struct mapping *mapping, uint64_t start,
			 uint64_t end, memory_visit_fn *visit, void *arg)
{
	const struct core_file *core = core_of(memory);
	const struct core_segment *segment = segment_from(core, start);
	int err = 0;

	for (; !err && segment && segment < core->segments + core->segment_cnt; segment++) {
		uint64_t from = segment->start > start ? segment->start : start;
		uint64_t to = segment->start + segment->bytes;

		if (segment->start >= end)
			break;
		if (to > end)
			to = end;
		if (from < to && may_be_written(mapping, segment))
			err = visit_data(core, segment, from, to, visit, arg);
	}
	return err;
}

static void free_memory(struct memory *memory)
{
	struct core_file *core = (struct core_file *)memory;

	core_notes_deinit(&core->notes);
	free(core->segments);
	core->segments = NULL;
	core->segment_cnt = 0;
	if (core->fd >= 0)
		close(core->fd);
	core->fd = -1;
}

static const struct memory_ops core_ops = {
	.read = read_memory,
	.visit_written = visit_written,
	.free = free_memory,
};

static int read_header(struct core_file *core, Elf64_Ehdr *ret)
{
	ssize_t got = read_at(core->fd, ret, sizeof(*ret), 0);

	if (got < 0)
		return (int)got;
	if (got < EI_NIDENT || memcmp(ret->e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (ret->e_ident[EI_CLASS] != ELFCLASS64 || ret->e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if (got < (ssize_t)sizeof(*ret))
		return -EBADMSG;
	if (ret->e_type != ET_CORE)
		return -EINVAL;
	if (!core_notes_know(ret->e_machine))
		return -ENOTSUP;
	core->machine = ret->e_machine;
	return ret->e_phentsize == sizeof(Elf64_Phdr) ? 0 : -EBADMSG;
}

/*
 * Reads the number of program headers. If it does not fit into 16 bits, it is in the first section
 * header.
 */
static int count_headers(const struct core_file *core, const Elf64_Ehdr *header, uint64_t *ret)
{
	uint64_t cnt = header->e_phnum, bytes;
	Elf64_Shdr section;
	ssize_t got;

	if (cnt == PN_XNUM) {
		got = read_at(core->fd, &section, sizeof(section), header->e_shoff);
		if (got < (ssize_t)sizeof(section))
			return -EBADMSG;
		cnt = section.sh_info;
	}
	bytes = cnt * sizeof(Elf64_Phdr);
	if (!cnt || cnt > HEADERS_MAX || bytes > core->file_bytes ||
	    header->e_phoff > core->file_bytes - bytes)
		return -EBADMSG;
	*ret = cnt;
	return 0;
}

/*
 * Adds a segment. Skips segments whose addresses are not multiples of 8 or overflow: real mappings
 * begin and end at page boundaries. Also skips segments above ADDRESSES_END.
 */
static int add_segment(struct core_file *core, const Elf64_Phdr *header)
{
	uint64_t bytes = header->p_filesz, there, end;

	if (!header->p_memsz)
		return 0;
	if (__builtin_add_overflow(header->p_vaddr, header->p_memsz, &end) ||
	    (header->p_vaddr | end) & WORD_MASK ||
	    (bytes && bytes > INT64_MAX - header->p_offset) || header->p_offset > INT64_MAX) {
		core->odd = true;
		return 0;
	}
	if (end > ADDRESSES_END) {
		core->odd |= (header->p_flags & PF_W) != 0;
		return 0;
	}
	if (bytes > header->p_memsz)
		bytes = header->p_memsz;
	there = header->p_offset < core->file_bytes ? core->file_bytes - header->p_offset : 0;
	if (bytes > there) {
		core->missing_bytes += bytes - there;
		bytes = there;
	}
	if (array_reserve(&core->segments, &core->segment_cap, core->segment_cnt + 1))
		return -ENOMEM;
	core->segments[core->segment_cnt++] = (struct core_segment){
		.start = header->p_vaddr,
		.end = end,
		.at = header->p_offset,
		.bytes = bytes & ~WORD_MASK,
		.flags = header->p_flags,
	};
	return 0;
}

static int take_header(struct core_file *core, const Elf64_Phdr *header)
{
	if (header->p_type == PT_LOAD)
		return add_segment(core, header);
	if (header->p_type != PT_NOTE)
		return 0;
	if (header->p_offset > core->file_bytes ||
	    header->p_filesz > core->file_bytes - header->p_offset)
		core->missing_bytes += header->p_filesz;
	return core_notes_add(&core->notes, core->machine, core->fd, header->p_offset,
			      header->p_filesz);
}

static int read_headers(struct core_file *core, uint64_t at, uint64_t cnt)
{
	Elf64_Phdr headers[HEADERS_AT_ONCE];
	int err = 0;

	while (!err && cnt) {
		size_t part = cnt < HEADERS_AT_ONCE ? cnt : HEADERS_AT_ONCE;
		ssize_t got = read_at(core->fd, headers, part * sizeof(headers[0]), at);

		if (got < (ssize_t)(part * sizeof(headers[0])))
			return got < 0 ? (int)got : -EBADMSG;
		for (size_t i = 0; !err && i < part; i++)
			err = take_header(core, &headers[i]);
		at += (uint64_t)got;
		cnt -= part;
	}
	return err;
}

static int compare_segments(const void *left, const void *right)
{
	const struct core_segment *a = left, *b = right;

	return ORDER(a->start, b->start) ?: ORDER(a->at, b->at) ?: ORDER(a->end, b->end);
}

/*
 * Sorts segments, and drops each segment that overlaps an earlier one: no real process has such
 * segments.
 */
static void sort_segments(struct core_file *core)
{
	size_t cnt = 0;

	if (core->segment_cnt)
		qsort(core->segments, core->segment_cnt, sizeof(*core->segments), compare_segments);
	for (size_t i = 0; i < core->segment_cnt; i++) {
		if (cnt && core->segments[i].start < core->segments[cnt - 1].end) {
			core->odd = true;
			continue;
		}
		core->segments[cnt] = core->segments[i];
		if (!core->segments[cnt].bytes && core->segments[cnt].flags & PF_W)
			core->absent_bytes += core->segments[cnt].end - core->segments[cnt].start;
		core->content_bytes += core->segments[cnt++].bytes;
	}
	core->segment_cnt = cnt;
}

/*
 * Offsets of "[vdso]" and "[stack]" in the string `names` of make_maps(), which begins with an
 * empty name. make_maps() puts this string after the paths of files.
 */
#define VDSO_AT 1
#define STACK_AT 8

/* A range of addresses that belongs to at most one segment and at most one file. */
struct piece {
	uint64_t start;
	uint64_t end;
	const struct core_segment *segment;
	const struct core_mapped *file;
};

/*
 * Shortens the piece so that it ends where the range [start, end) begins or ends, whichever comes
 * first in the piece. True if the range contains the start of the piece.
 */
static bool holds(struct piece *piece, uint64_t start, uint64_t end)
{
	bool inside = start <= piece->start;
	uint64_t bound = inside ? end : start;

	if (bound < piece->end)
		piece->end = bound;
	return inside;
}

/* Finds the first piece at `from` or above. False if there is none. */
static bool next_piece(const struct core_file *core, uint64_t from, struct piece *ret)
{
	const struct core_segment *segment = segment_from(core, from);
	const struct core_mapped *file = core_notes_file(&core->notes, from);
	uint64_t first = UINT64_MAX;
	struct piece piece = {.start = from, .end = UINT64_MAX};

	if (segment)
		first = segment->start;
	if (file && file->start < first)
		first = file->start;
	if (!segment && !file)
		return false;
	if (first > from)
		piece.start = first;
	if (segment && holds(&piece, segment->start, segment->end))
		piece.segment = segment;
	if (file && holds(&piece, file->start, file->end))
		piece.file = file;
	*ret = piece;
	return true;
}

static struct mapping mapping_of(const struct core_file *core, const struct piece *piece,
				 char *paths, size_t empty)
{
	const unsigned int flags = piece->segment ? piece->segment->flags : PF_X;
	struct mapping mapping = {
		.start = piece->start,
		.end = piece->end,
		.readable = flags & PF_R,
		.writable = flags & PF_W,
		.executable = flags & PF_X,
		.path = paths + empty,
	};

	if (piece->file) {
		mapping.offset = piece->file->offset + (piece->start - piece->file->start);
		mapping.path = paths + piece->file->path;
		mapping.deleted = piece->file->deleted;
	} else if (core->notes.vdso && piece->start == core->notes.vdso) {
		mapping.path = paths + empty + VDSO_AT;
	} else if (mapping.writable && core->notes.random_bytes >= piece->start &&
		   core->notes.random_bytes < piece->end) {
		mapping.path = paths + empty + STACK_AT;
	}
	return mapping;
}

static int make_maps(struct core_file *core)
{
	static const char names[] = "\0[vdso]\0[stack]";
	const size_t path_bytes = core->notes.path_bytes;
	struct proc_maps *maps = &core->memory.maps;
	struct piece piece = {0};
	size_t cap = 0;

	maps->path_store = malloc(path_bytes + 1 + sizeof(names));
	if (!maps->path_store || array_reserve(&maps->mappings, &cap, 1))
		return -ENOMEM;
	if (path_bytes)
		memcpy(maps->path_store, core->notes.paths, path_bytes);
	maps->path_store[path_bytes] = '\0';
	memcpy(maps->path_store + path_bytes + 1, names, sizeof(names));
	while (next_piece(core, piece.end, &piece)) {
		if (array_reserve(&maps->mappings, &cap, maps->cnt + 1))
			return -ENOMEM;
		maps->mappings[maps->cnt++] =
			mapping_of(core, &piece, maps->path_store, path_bytes + 1);
	}
	maps->whole = !core->missing_bytes && !core->odd && !core->notes.odd;
	return 0;
}

static uint64_t page_size_of(const struct core_file *core)
{
	uint64_t size = core->notes.page_size;

	if (size < PAGE_BYTES || size > PAGE_BYTES_MAX || size & (size - 1))
		return PAGE_BYTES;
	return size;
}

int core_file_init(int fd, struct core_file *ret)
{
	struct core_file core = {.memory.ops = &core_ops, .fd = fd};
	uint64_t cnt = 0;
	Elf64_Ehdr header;
	struct stat st;
	int err = fstat(fd, &st) ? -errno : 0;

	if (!err) {
		core.file_bytes = (uint64_t)st.st_size;
		err = read_header(&core, &header);
	}
	if (!err)
		err = count_headers(&core, &header, &cnt);
	if (!err)
		err = read_headers(&core, header.e_phoff, cnt);
	if (!err) {
		sort_segments(&core);
		core.memory.page_size = page_size_of(&core);
		core.memory.ignored_bits = core_notes_ignored_bits(core.machine);
		err = make_maps(&core);
	}
	if (err) {
		core_file_deinit(&core);
		return err;
	}
	*ret = core;
	return 0;
}

void core_file_deinit(struct core_file *core)
{
	free_memory(&core->memory);
	proc_maps_deinit(&core->memory.maps);
}
