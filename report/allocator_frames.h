/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frames are not to be blamed for memory: those of allocators, by the names of functions,
 * and those of language runtimes, by the names of files. Knows nothing of which allocator is
 * probed.
 */
#ifndef REPORT_ALLOCATOR_FRAMES_H
#define REPORT_ALLOCATOR_FRAMES_H

#include <stdbool.h>

#include "report/snapshot.h"
#include "symbolizer/symbolizer.h"

/* location: of a frame of site; may be NULL. */
bool frame_is_allocator(const struct site *site, const struct sym_location *location);

/* A C or C++ library, a dynamic loader, an allocator. */
bool module_is_runtime(const char *module);

#endif
