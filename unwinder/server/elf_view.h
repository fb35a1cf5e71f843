/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ELF file in memory, in which libelf may decompress sections. */
#ifndef UNWINDER_SERVER_ELF_VIEW_H
#define UNWINDER_SERVER_ELF_VIEW_H

#include <libelf.h>
#include <stddef.h>

struct elf_view {
	Elf *elf;
	char *bytes; /* private mapping of the file; pages that were changed are copies */
	size_t size;
};

/*
 * Maps a file into memory. Returns 0, -ENOEXEC (not a little-endian 64-bit ELF file) or -ENOMEM.
 * The caller may close fd afterwards.
 */
int elf_view_init(int fd, struct elf_view *ret);
void elf_view_deinit(struct elf_view *view);

#endif
