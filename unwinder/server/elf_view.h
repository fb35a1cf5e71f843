/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file in memory, prepared for libdw. libdw prefers the search table in .eh_frame_hdr, which
 * may be wrong where .eh_frame is right. libdw also ignores program headers if there are section
 * headers, even useless ones. Here the search table and useless section headers are hidden from
 * libdw.
 */
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
