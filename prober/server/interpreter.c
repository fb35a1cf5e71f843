// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds CPython by its symbols. */
#include "prober/server/interpreter.h"

#include <errno.h>
#include <unistd.h>

#include "prober/server/elf_functions.h"

#define LOOP "_PyEval_EvalFrameDefault"

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

static bool read_version(Elf *elf, int fd, uint32_t *ret)
{
	GElf_Phdr segment;
	GElf_Sym symbol;
	uint64_t offset;

	if (!elf_symbol_find(elf, "Py_Version", &symbol) ||
	    !find_segment(elf, symbol.st_value, &segment))
		return false;
	offset = symbol.st_value - segment.p_vaddr + segment.p_offset;
	return offset <= INT64_MAX && pread(fd, ret, sizeof(*ret), (off_t)offset) == sizeof(*ret);
}

static struct loop_part part_of(const GElf_Phdr *code, const GElf_Sym *symbol)
{
	uint64_t start = symbol->st_value - code->p_vaddr + code->p_offset;

	return (struct loop_part){start, start + symbol->st_size};
}

static bool find(Elf *elf, int fd, struct interpreter *ret)
{
	GElf_Sym loop, cold, runtime;
	GElf_Phdr code;

	if (!elf_symbol_find(elf, LOOP, &loop) || !find_segment(elf, loop.st_value, &code) ||
	    !elf_symbol_find(elf, "_PyRuntime", &runtime) || !read_version(elf, fd, &ret->version))
		return false;
	ret->runtime = runtime.st_value - (code.p_vaddr - code.p_offset);
	ret->loop[0] = part_of(&code, &loop);
	if (elf_symbol_find(elf, LOOP ".cold", &cold))
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
