/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds files with DWARF for a part of the running kernel: the paths where distributions install
 * them, and the addresses of their sections. Whether a file has the right build id is checked by
 * the server.
 */
#ifndef SYMBOLIZER_KERNEL_DEBUG_H
#define SYMBOLIZER_KERNEL_DEBUG_H

#include "symbolizer/kernel_image.h"
#include "symbolizer/module.h"

/*
 * Fills file->places and file->anchors for a part with a build id. Unreadable files are skipped.
 * Fails with -ENOMEM.
 */
int kernel_debug_find(const struct kernel_roots *roots, const struct kernel_part *part,
		      bool is_core, struct module *file);

#endif
