/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decompresses a profile, checks it by the same rules as pprof's CheckValid, and prints it as text.
 */
#ifndef TESTS_UNIT_SINKS_PROFILE_DUMP_H
#define TESTS_UNIT_SINKS_PROFILE_DUMP_H

#include <stddef.h>

/* Returns the text of a profile. Free with free(). */
char *profile_dump(const char *bytes, size_t len);

#endif
