/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What leads from a part of the running kernel to the file with its DWARF: where such a file may
 * be installed, and what says at which addresses its sections lie. Whether a file is the right
 * one, the helper says, by the build id.
 */
#ifndef KERNEL_DEBUG_H
#define KERNEL_DEBUG_H

#include "symbolizer/kernel_image.h"
#include "symbolizer/module.h"

/*
 * Fills file->places and file->anchors for a part that has a build id. What cannot be read is
 * left out. -ENOMEM.
 */
int kernel_debug_find(const struct kernel_roots *roots, const struct kernel_part *part,
		      bool is_core, struct module *file);

#endif
