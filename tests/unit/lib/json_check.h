/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A strict reader of JSON (RFC 8259) that keeps nothing: is this text one value, in valid UTF-8,
 * with no key twice in an object?
 */
#ifndef TESTS_UNIT_LIB_JSON_CHECK_H
#define TESTS_UNIT_LIB_JSON_CHECK_H

#include <stdbool.h>

bool json_is_valid(const char *text);
/* Each line by itself, and the last one ends, too. */
bool json_lines_are_valid(const char *text);

#endif
