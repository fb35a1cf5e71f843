/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON as a stream: objects, arrays and values, in the order of the calls, without a tree in
 * memory. Strings may have any bytes; the result is always valid JSON in valid UTF-8. This module
 * knows nothing of reports.
 *
 * The argument `key` is NULL within arrays and for the outermost value. json_string() writes null
 * if the value is NULL.
 */
#ifndef SINKS_JSON_WRITER_H
#define SINKS_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
	FILE *out;
	bool comma; /* true if a comma must come before the next value */
	/*
	 * True if strings are escaped so that HTML does not take them for markup; cleared by
	 * json_init().
	 */
	bool in_html;
};

void json_init(struct json_writer *json, FILE *out);

void json_begin_object(struct json_writer *json, const char *key);
void json_end_object(struct json_writer *json);
void json_begin_array(struct json_writer *json, const char *key);
void json_end_array(struct json_writer *json);

void json_null(struct json_writer *json, const char *key);
void json_bool(struct json_writer *json, const char *key, bool value);
void json_unsigned(struct json_writer *json, const char *key, uint64_t value);
void json_signed(struct json_writer *json, const char *key, int64_t value);
/* Writes a number with six digits; null if it is not finite. */
void json_real(struct json_writer *json, const char *key, double value);
void json_string(struct json_writer *json, const char *key, const char *value);
/*
 * Writes a number as a string such as "0x1f", because many readers lose digits of numbers above
 * 2^53.
 */
void json_hex(struct json_writer *json, const char *key, uint64_t value);

#endif
