/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the class of an ELF file (32 or 64 bits). This is the only part of targets' files that
 * memleak parses in its own process, not in a helper.
 */
#ifndef LOADER_TARGET_ELF_CLASS_H
#define LOADER_TARGET_ELF_CLASS_H

/* Returns ELFCLASS32 or ELFCLASS64, or a negative errno if the file is not an ELF file. */
int elf_class(int fd);

#endif
