// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads program headers. They are hostile input: any value is possible. */
#include "prober/code_ranges.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

/* Maximum number of program headers that are read. */
#define HEADERS_MAX 4096

static bool read_at(int fd, uint64_t offset, void *ret, size_t len)
{
	return offset <= INT64_MAX && pread(fd, ret, len, (off_t)offset) == (ssize_t)len;
}

static void add(struct code_ranges *ranges, const Elf64_Phdr *header)
{
	uint64_t end;

	if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) ||
	    __builtin_add_overflow(header->p_offset, header->p_filesz, &end))
		return;
	ranges->items[ranges->cnt].start = header->p_offset;
	ranges->items[ranges->cnt++].end = end;
}

void code_ranges_read(int fd, struct code_ranges *ret)
{
	Elf64_Ehdr file;
	Elf64_Phdr header;

	ret->cnt = 0;
	if (!read_at(fd, 0, &file, sizeof(file)) || memcmp(file.e_ident, ELFMAG, SELFMAG) ||
	    file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_phentsize != sizeof(header))
		return;
	for (size_t i = 0; i < file.e_phnum && i < HEADERS_MAX && ret->cnt < CODE_RANGES_MAX; i++)
		if (read_at(fd, file.e_phoff + i * sizeof(header), &header, sizeof(header)))
			add(ret, &header);
}

bool code_ranges_have(const struct code_ranges *ranges, uint64_t offset)
{
	for (size_t i = 0; i < ranges->cnt; i++)
		if (offset >= ranges->items[i].start && offset < ranges->items[i].end)
			return true;
	return false;
}
