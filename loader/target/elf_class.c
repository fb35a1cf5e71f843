// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the first bytes of an ELF file. */
#include "loader/target/elf_class.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

int elf_class(int fd)
{
	unsigned char ident[EI_NIDENT];
	ssize_t len = pread(fd, ident, sizeof(ident), 0);

	if (len < 0)
		return -errno;
	if (len < EI_NIDENT || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	return ident[EI_CLASS];
}
