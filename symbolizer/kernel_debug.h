/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds files with DWARF for the core kernel or one of its modules: the paths where distributions
 * install them, and the addresses of their sections. The server checks the files' build ids.
 */
#ifndef SYMBOLIZER_KERNEL_DEBUG_H
#define SYMBOLIZER_KERNEL_DEBUG_H

#include "symbolizer/kernel_symtab.h"
#include "symbolizer/module.h"

/*
 * Fills file->places and file->anchors for a kernel part with a build id. Skips unreadable files.
 * Fails only with -ENOMEM.
 */
int kernel_debug_find(const struct kernel_roots *roots, const struct kernel_part *part,
		      bool is_core, struct module *file);

#endif
