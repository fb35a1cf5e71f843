/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists the paths where distributions install the DWARF of the core kernel or of a module, and
 * finds the load addresses of the kernel or of the module's sections. The server checks the files'
 * build ids.
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
