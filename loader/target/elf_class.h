/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the class of an ELF file: the only part of a target's file that memleak parses itself. */
#ifndef LOADER_TARGET_ELF_CLASS_H
#define LOADER_TARGET_ELF_CLASS_H

/* Returns ELFCLASS32 or ELFCLASS64, or a negative errno if it is no ELF file. */
int elf_class(int fd);

#endif
