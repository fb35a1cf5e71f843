/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognises frames that are not blamed for memory: frames of allocators, by the names of
 * functions, and frames of C and C++ runtimes, by the names of files. Does not depend on which
 * allocator is probed.
 */
#ifndef REPORT_ALLOCATOR_FRAMES_H
#define REPORT_ALLOCATOR_FRAMES_H

#include <stdbool.h>

#include "report/snapshot.h"
#include "symbolizer/symbolizer.h"

/*
 * True if a frame of `site` is in an allocator. `location` is the location of the frame; NULL if
 * not known.
 */
bool frame_is_allocator(const struct site *site, const struct sym_location *location);

/* True if the file is a C or C++ library, a dynamic loader or an allocator. */
bool module_is_runtime(const char *module);

#endif
