/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leads from a part of the running kernel to the file with its DWARF: the places where such a file
 * may be installed, and the addresses of its sections. The server says, by the build id, whether a
 * file is the right one.
 */
#ifndef SYMBOLIZER_KERNEL_DEBUG_H
#define SYMBOLIZER_KERNEL_DEBUG_H

#include "symbolizer/kernel_image.h"
#include "symbolizer/module.h"

/*
 * Fills file->places and file->anchors for a part that has a build id. What cannot be read is
 * left out. -ENOMEM.
 */
int kernel_debug_find(const struct kernel_roots *roots, const struct kernel_part *part,
		      bool is_core, struct module *file);

#endif
