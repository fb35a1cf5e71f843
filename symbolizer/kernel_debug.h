/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For the core kernel or a kernel module: lists the paths where distributions install its DWARF,
 * and finds the load addresses of the core kernel or of the module's sections. Does not open the
 * files with DWARF: the helper that parses ELF files checks their build ids.
 */
#ifndef SYMBOLIZER_KERNEL_DEBUG_H
#define SYMBOLIZER_KERNEL_DEBUG_H

#include "symbolizer/kernel_symtab.h"
#include "symbolizer/module.h"

/*
 * Fills file->places and file->anchors for a kernel part, which must have a build id. Skips files
 * of /sys that cannot be read. Fails only with -ENOMEM.
 */
int kernel_debug_find(const struct kernel_roots *roots, const struct kernel_part *part,
		      bool is_core, struct module *file);

#endif
