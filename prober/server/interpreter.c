// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds CPython by its symbols. */
#include "prober/server/interpreter.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "prober/server/elf_functions.h"

#define LOOP "_PyEval_EvalFrameDefault"

/* Start of _PyRuntime from Python 3.13 on. */
struct debug_offsets {
	char cookie[8];
	uint64_t version;
	uint64_t is_free_threaded;
};
#define DEBUG_COOKIE "xdebugpy"

/* Finds the segment that contains an address. */
static bool find_segment(Elf *elf, uint64_t addr, GElf_Phdr *ret)
{
	size_t cnt;

	if (elf_getphdrnum(elf, &cnt))
		return false;
	for (size_t i = 0; i < cnt; i++)
		if (gelf_getphdr(elf, (int)i, ret) && ret->p_type == PT_LOAD &&
		    addr >= ret->p_vaddr && addr - ret->p_vaddr < ret->p_filesz)
			return true;
	return false;
}

/* Reads the first bytes of a variable's initial value. */
static bool read_variable(Elf *elf, int fd, const GElf_Sym *symbol, void *ret, size_t len)
{
	GElf_Phdr segment;
	uint64_t offset;

	if (!find_segment(elf, symbol->st_value, &segment))
		return false;
	offset = symbol->st_value - segment.p_vaddr + segment.p_offset;
	return offset <= INT64_MAX && pread(fd, ret, len, (off_t)offset) == (ssize_t)len;
}

static bool is_free_threaded(Elf *elf, int fd, const GElf_Sym *runtime)
{
	struct debug_offsets offsets;

	return read_variable(elf, fd, runtime, &offsets, sizeof(offsets)) &&
	       !memcmp(offsets.cookie, DEBUG_COOKIE, sizeof(offsets.cookie)) &&
	       offsets.is_free_threaded;
}

static struct loop_part part_of(const GElf_Phdr *code, const GElf_Sym *symbol)
{
	uint64_t start = symbol->st_value - code->p_vaddr + code->p_offset;

	return (struct loop_part){start, start + symbol->st_size};
}

/* Maximum bytes of a range of code in which jumps are searched. */
#define CODE_BYTES_MAX (1U << 20)
/* Maximum ranges of code in a file. */
#define RANGES_MAX (1U << 18)
/*
 * Minimum jumps from the cold part back into the evaluation loop. Debian's builds have hundreds.
 * Bytes that only look like jumps rarely lead to one function.
 */
#define LEAST_JUMPS_BACK 16

/* Jumps on x86-64. Both end with the distance, in 4 bytes. */
#define JUMP 0xe9
#define JUMP_IF(first, second) ((first) == 0x0f && ((second)&0xf0) == 0x80)

/* A range of code that has an entry of its own in .eh_frame. */
struct code_range {
	uint64_t start;
	uint64_t end;
	size_t jumps; /* jumps from the evaluation loop into the middle of the range */
};

struct code_ranges {
	struct code_range *items;
	size_t cnt;
	size_t cap;
	bool is_full;
};

/*
 * Adds the range of an entry. Its start and its length have 4 bytes each, and the start is relative
 * to its own address (DW_EH_PE_pcrel | DW_EH_PE_sdata4), as compilers for x86-64 write it.
 */
static void add_range(struct code_ranges *ranges, const Dwarf_CFI_Entry *entry, uint64_t addr)
{
	struct code_range range = {0};
	int32_t start;
	uint32_t len;

	if (entry->fde.end - entry->fde.start < (ptrdiff_t)(sizeof(start) + sizeof(len)))
		return;
	memcpy(&start, entry->fde.start, sizeof(start));
	memcpy(&len, entry->fde.start + sizeof(start), sizeof(len));
	range.start = addr + (uint64_t)(int64_t)start;
	range.end = range.start + len;
	ranges->is_full = ranges->cnt == RANGES_MAX ||
			  array_reserve(&ranges->items, &ranges->cap, ranges->cnt + 1);
	if (!ranges->is_full)
		ranges->items[ranges->cnt++] = range;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static Elf_Scn *find_eh_frame(Elf *elf)
{
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name)
						      : NULL;
		if (name && !strcmp(name, ".eh_frame") && header.sh_type != SHT_NOBITS)
			return section;
	}
	return NULL;
}

/* Reads the ranges. Skips entries that libdw cannot parse. */
static void read_ranges(Elf *elf, struct code_ranges *ranges)
{
	Elf_Scn *section = find_eh_frame(elf);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	const uint8_t *ident = (const uint8_t *)elf_getident(elf, NULL), *bytes;
	GElf_Shdr header;
	Dwarf_Off next = 0;

	if (!data || !data->d_buf || !gelf_getshdr(section, &header))
		return;
	bytes = data->d_buf;
	for (Dwarf_Off at = 0; !ranges->is_full; at = next) {
		Dwarf_CFI_Entry entry;
		int err = dwarf_next_cfi(ident, data, true, at, &next, &entry);

		if (err > 0 || next <= at)
			break;
		if (!err && entry.CIE_id != DW_CIE_ID_64)
			add_range(ranges, &entry,
				  header.sh_addr + (uint64_t)(entry.fde.start - bytes));
	}
	if (ranges->cnt)
		qsort(ranges->items, ranges->cnt, sizeof(*ranges->items), compare_ranges);
}

/* Counts a jump. A jump to the start of a range is a tail call. */
static void count_jump(struct code_ranges *ranges, uint64_t target)
{
	size_t low = 0, high = ranges->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].start < target)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && target < ranges->items[low - 1].end)
		ranges->items[low - 1].jumps++;
}

/* A piece of code in which jumps are searched. */
struct code_bytes {
	uint8_t *bytes;
	size_t size;
	uint64_t addr;
	size_t at; /* index of the next byte that may be a jump's distance */
};

/* Reads the code from addr on. The caller must free ret->bytes. */
static bool read_code(int fd, const GElf_Phdr *code, uint64_t addr, uint64_t size,
		      struct code_bytes *ret)
{
	uint64_t offset = addr - code->p_vaddr + code->p_offset;

	if (addr < code->p_vaddr || addr - code->p_vaddr > code->p_filesz ||
	    size > code->p_filesz - (addr - code->p_vaddr) || size > CODE_BYTES_MAX ||
	    offset > INT64_MAX)
		return false;
	*ret = (struct code_bytes){.bytes = malloc(size + 1), .size = size, .addr = addr, .at = 2};
	return ret->bytes && pread(fd, ret->bytes, size, (off_t)offset) == (ssize_t)size;
}

/* Finds the next jump. Bytes that are no instruction may look like one. */
static bool next_jump(struct code_bytes *code, uint64_t *target)
{
	for (; code->at + sizeof(int32_t) <= code->size; code->at++) {
		const uint8_t *at = &code->bytes[code->at];
		int32_t distance;

		if (at[-1] != JUMP && !JUMP_IF(at[-2], at[-1]))
			continue;
		memcpy(&distance, at, sizeof(distance));
		*target = code->addr + code->at++ + sizeof(distance) + (uint64_t)(int64_t)distance;
		return true;
	}
	return false;
}

/* True if the code of a range has LEAST_JUMPS_BACK jumps into the middle of the evaluation loop. */
static bool jumps_back(int fd, const GElf_Phdr *code, const GElf_Sym *loop,
		       const struct code_range *range)
{
	struct code_bytes bytes = {0};
	uint64_t target;
	size_t cnt = 0;

	if (read_code(fd, code, range->start, range->end - range->start, &bytes))
		while (next_jump(&bytes, &target))
			cnt += target > loop->st_value && target - loop->st_value < loop->st_size;
	free(bytes.bytes);
	return cnt >= LEAST_JUMPS_BACK;
}

/*
 * Finds the cold part of the evaluation loop in a file without its symbol: the range of code into
 * which most jumps lead, and which jumps back.
 */
static struct code_range find_cold_part(Elf *elf, int fd, const GElf_Phdr *code,
					const GElf_Sym *loop)
{
	struct code_range found = {0};
	struct code_ranges ranges = {0};
	struct code_bytes bytes = {0};
	uint64_t target;

	if (read_code(fd, code, loop->st_value, loop->st_size, &bytes))
		read_ranges(elf, &ranges);
	while (ranges.cnt && next_jump(&bytes, &target))
		if (target - loop->st_value >= loop->st_size)
			count_jump(&ranges, target);
	for (size_t i = 0; i < ranges.cnt; i++)
		if (ranges.items[i].jumps > found.jumps)
			found = ranges.items[i];
	free(ranges.items);
	free(bytes.bytes);
	return found.jumps && jumps_back(fd, code, loop, &found) ? found : (struct code_range){0};
}

static struct loop_part cold_part(Elf *elf, int fd, const GElf_Phdr *code, const GElf_Sym *loop)
{
	struct code_range range;
	GElf_Sym cold;

	if (elf_symbol_find(elf, LOOP ".cold", &cold))
		return part_of(code, &cold);
	range = find_cold_part(elf, fd, code, loop);
	if (!range.jumps)
		return (struct loop_part){0};
	cold.st_value = range.start;
	cold.st_size = range.end - range.start;
	return part_of(code, &cold);
}

static bool find(Elf *elf, int fd, struct interpreter *ret)
{
	GElf_Sym loop, runtime, version;
	GElf_Phdr code;

	if (!elf_symbol_find(elf, LOOP, &loop) || !find_segment(elf, loop.st_value, &code) ||
	    !elf_symbol_find(elf, "_PyRuntime", &runtime) ||
	    !elf_symbol_find(elf, "Py_Version", &version) ||
	    !read_variable(elf, fd, &version, &ret->version, sizeof(ret->version)))
		return false;
	ret->is_free_threaded = is_free_threaded(elf, fd, &runtime);
	ret->runtime = runtime.st_value - (code.p_vaddr - code.p_offset);
	ret->loop[0] = part_of(&code, &loop);
	ret->loop[1] = cold_part(elf, fd, &code, &loop);
	return true;
}

int interpreter_find(int fd, struct interpreter *ret)
{
	struct interpreter found = {0};
	bool has;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	has = elf && gelf_getclass(elf) == ELFCLASS64 && find(elf, fd, &found);
	elf_end(elf);
	if (!has)
		return -ENOEXEC;
	*ret = found;
	return 0;
}
