/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A strict JSON checker (RFC 8259): accepts one value in valid UTF-8 without duplicate keys in any
 * object.
 */
#ifndef TESTS_UNIT_LIB_JSON_CHECK_H
#define TESTS_UNIT_LIB_JSON_CHECK_H

#include <stdbool.h>

bool json_is_valid(const char *text);
/* True if each line is one JSON value and the last line ends in a newline. */
bool json_lines_are_valid(const char *text);

#endif
