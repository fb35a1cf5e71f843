/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes functions, so that many functions can be compared quickly. */
#ifndef REPORT_FUNCTION_HASH_H
#define REPORT_FUNCTION_HASH_H

#include "symbolizer/symbolizer.h"

/*
 * Returns a hash of a function with a name. If the source is known, all instances of a template
 * have the same hash, and so have copies of a function in several files, such as copies of a
 * library.
 */
uint64_t function_hash(const struct sym_frame *frame, const char *module);

#endif
