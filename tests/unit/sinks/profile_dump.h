/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a compressed profile back, holds it to the rules by which pprof's CheckValid rejects one,
 * and prints it as text.
 */
#ifndef TESTS_UNIT_SINKS_PROFILE_DUMP_H
#define TESTS_UNIT_SINKS_PROFILE_DUMP_H

#include <stddef.h>

/* From malloc. */
char *profile_dump(const char *bytes, size_t len);

#endif
