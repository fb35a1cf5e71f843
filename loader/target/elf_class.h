/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one thing that memleak reads of a target's file itself: which kind of file it is. */
#ifndef LOADER_TARGET_ELF_CLASS_H
#define LOADER_TARGET_ELF_CLASS_H

/* ELFCLASS32 or ELFCLASS64 of the file; negative errno: no ELF file. */
int elf_class(int fd);

#endif
