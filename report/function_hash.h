/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes functions, so that many functions can be compared quickly. */
#ifndef REPORT_FUNCTION_HASH_H
#define REPORT_FUNCTION_HASH_H

#include "symbolizer/symbolizer.h"

/* Returns what copies of a file have in common: the build id or, without one, the path. */
const char *function_file(const struct sym_location *location);

/*
 * Returns a hash of a function with a name. If the source is known, all instances of a template
 * have the same hash, and so have copies of a function in several files. The location's file must
 * be known.
 */
uint64_t function_hash(const struct sym_frame *frame, const struct sym_location *location);

#endif
