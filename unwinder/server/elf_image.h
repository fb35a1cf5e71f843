/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file in memory, as libdw is to see it. libdw finds descriptions by .eh_frame_hdr, a
 * second account of them that may be wrong where .eh_frame is right, and does not look at program
 * headers once there are section headers, even if those lead nowhere. Both are hidden from it.
 */
#ifndef UNWINDER_SERVER_ELF_IMAGE_H
#define UNWINDER_SERVER_ELF_IMAGE_H

#include <libelf.h>
#include <stddef.h>

struct elf_image {
	Elf *elf;
	char *bytes; /* a copy of our own, as far as it was changed */
	size_t size;
};

/* 0, -ENOEXEC (no little-endian 64-bit ELF file) or -ENOMEM. fd is not needed afterwards. */
int elf_image_init(int fd, struct elf_image *ret);
void elf_image_deinit(struct elf_image *image);

#endif
