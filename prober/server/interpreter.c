// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds CPython in an ELF file by its symbols. */
#include "prober/server/interpreter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prober/server/elf_functions.h"
#include "prober/server/python_layout.h"
#include "unwinder/server/fde_list.h"

#define LOOP "_PyEval_EvalFrameDefault"

/* Finds the loaded segment that contains an address. Returns false if there is none. */
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

/* Reads the first `len` bytes of a variable's initial value from the file. */
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
	struct python_debug_offsets offsets;

	return read_variable(elf, fd, runtime, &offsets, sizeof(offsets)) &&
	       python_is_free_threaded(&offsets);
}

static struct loop_part part_of(const GElf_Phdr *code, const GElf_Sym *symbol)
{
	uint64_t start = symbol->st_value - code->p_vaddr + code->p_offset;

	return (struct loop_part){start, start + symbol->st_size};
}

/* Maximum size, in bytes, of a piece of code that is searched for jumps. */
#define CODE_BYTES_MAX (1U << 20)
/*
 * Minimum number of jumps from the cold part of the evaluation loop back into the loop. Debian's
 * builds have hundreds. Bytes that only look like jumps rarely lead into the loop.
 */
#define LEAST_JUMPS_BACK 16

/* Opcodes of x86-64 jumps with a 4-byte distance: jmp and conditional jumps. */
#define JUMP 0xe9
#define JUMP_IF(first, second) ((first) == 0x0f && ((second)&0xf0) == 0x80)

/*
 * Returns the FDE (entry of .eh_frame) that contains an address but does not begin at it; NULL if
 * there is none.
 */
static const struct fde *fde_around(const struct fde_list *list, uint64_t addr)
{
	size_t low = 0, high = list->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle].start < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && addr < list->items[low - 1].end ? &list->items[low - 1] : NULL;
}

/* A piece of code that is searched for jumps. */
struct code_bytes {
	uint8_t *bytes;
	size_t size;
	uint64_t addr;
	size_t at; /* index from which the search for the next jump's distance continues */
};

/*
 * Reads `size` bytes of code at addr, which is in the segment `code`. The caller frees ret->bytes,
 * even on failure.
 */
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

/* Finds the next jump, or bytes that look like one, and sets *target. Returns false at the end. */
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

/*
 * True if the code of an FDE has at least LEAST_JUMPS_BACK jumps into the function `loop`, not
 * counting jumps to its start.
 */
static bool jumps_back(int fd, const GElf_Phdr *code, const GElf_Sym *loop, const struct fde *fde)
{
	struct code_bytes bytes = {0};
	uint64_t target;
	size_t cnt = 0;

	if (read_code(fd, code, fde->start, fde->end - fde->start, &bytes))
		while (next_jump(&bytes, &target))
			cnt += target > loop->st_value && target - loop->st_value < loop->st_size;
	free(bytes.bytes);
	return cnt >= LEAST_JUMPS_BACK;
}

/*
 * Returns the FDE into which the most jumps of `code` lead; NULL if no jump leads into an FDE. Does
 * not count jumps within `code`, nor jumps to the start of an FDE, which are tail calls.
 */
static const struct fde *most_entered(const struct fde_list *list, struct code_bytes *code)
{
	size_t *jumps = calloc(list->cnt + 1, sizeof(*jumps)), most = 0;
	const struct fde *found = NULL;
	uint64_t target;

	while (jumps && next_jump(code, &target)) {
		const struct fde *fde =
			target - code->addr < code->size ? NULL : fde_around(list, target);

		if (!fde || ++jumps[fde - list->items] <= most)
			continue;
		most = jumps[fde - list->items];
		found = fde;
	}
	free(jumps);
	return found;
}

/*
 * Finds the cold part of the evaluation loop in a file that has no symbol for this part: more jumps
 * lead from the loop into the cold part than into any other FDE, and the cold part has many jumps
 * back. Returns false if there is no such FDE.
 */
static bool find_cold_part(Elf *elf, int fd, const GElf_Phdr *code, const GElf_Sym *loop,
			   GElf_Sym *ret)
{
	struct code_bytes bytes = {0};
	struct fde_list list = {0};
	const struct fde *found = NULL;

	if (read_code(fd, code, loop->st_value, loop->st_size, &bytes) &&
	    !fde_list_init(elf, &list))
		found = most_entered(&list, &bytes);
	if (found && !jumps_back(fd, code, loop, found))
		found = NULL;
	if (found)
		*ret = (GElf_Sym){.st_value = found->start, .st_size = found->end - found->start};
	fde_list_deinit(&list);
	free(bytes.bytes);
	return found;
}

/* Offset of tp_dealloc in a type: pointer to the function that frees the type's objects. */
#define TYPE_FREE 48

/* Maximum number of relocations read per file. */
#define RELOCATIONS_MAX (8 << 20)

/*
 * Finds the relocation that stores an address of the same file in the word at `slot`, and sets *ret
 * to this address. Returns false if there is none.
 */
static bool find_relative(Elf *elf, uint64_t slot, uint64_t *ret)
{
	Elf_Scn *section = NULL;
	uint64_t left = RELOCATIONS_MAX;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr shdr;
		Elf_Data *data;
		GElf_Rela rela;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_RELA || !shdr.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; left && data && gelf_getrela(data, i, &rela); i++, left--) {
			if (rela.r_offset != slot || GELF_R_TYPE(rela.r_info) != R_X86_64_RELATIVE)
				continue;
			*ret = (uint64_t)rela.r_addend;
			return true;
		}
	}
	return false;
}

/* Returns the file offset of the function that frees code objects; 0 if it is not found. */
static uint64_t find_free_code(Elf *elf, int fd)
{
	GElf_Sym slot;
	GElf_Phdr code;
	uint64_t addr;

	if (!elf_symbol_find(elf, "PyCode_Type", &slot))
		return 0;
	slot.st_value += TYPE_FREE;
	if ((!find_relative(elf, slot.st_value, &addr) &&
	     !read_variable(elf, fd, &slot, &addr, sizeof(addr))) ||
	    !find_segment(elf, addr, &code) || !(code.p_flags & PF_X))
		return 0;
	return addr - code.p_vaddr + code.p_offset;
}

static bool find(Elf *elf, int fd, struct interpreter *ret)
{
	GElf_Sym loop, cold, runtime, version;
	GElf_Phdr code;

	if (!elf_symbol_find(elf, LOOP, &loop) || !find_segment(elf, loop.st_value, &code) ||
	    !elf_symbol_find(elf, "_PyRuntime", &runtime) ||
	    !elf_symbol_find(elf, "Py_Version", &version) ||
	    !read_variable(elf, fd, &version, &ret->version, sizeof(ret->version)))
		return false;
	ret->is_free_threaded = is_free_threaded(elf, fd, &runtime);
	ret->runtime = runtime.st_value - (code.p_vaddr - code.p_offset);
	ret->free_code = find_free_code(elf, fd);
	ret->loop[0] = part_of(&code, &loop);
	if (elf_symbol_find(elf, LOOP ".cold", &cold) ||
	    find_cold_part(elf, fd, &code, &loop, &cold))
		ret->loop[1] = part_of(&code, &cold);
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
