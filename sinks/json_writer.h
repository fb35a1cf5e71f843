/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON as a stream: objects, arrays and values in the order they are given, without a
 * tree in between. Whatever the strings hold, the result is valid JSON in valid UTF-8. It knows
 * nothing of reports.
 *
 * key is NULL within arrays and for the outermost value. Functions that take text or a pointer
 * write null for NULL.
 */
#ifndef SINKS_JSON_WRITER_H
#define SINKS_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
	FILE *out;
	bool comma;   /* a value stands before the next one */
	bool in_html; /* no string may look like markup; json_init clears it */
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
/* With six digits; null if it is not a number or is infinite. */
void json_real(struct json_writer *json, const char *key, double value);
void json_string(struct json_writer *json, const char *key, const char *value);
/* "0x1f": numbers above 2^53 would lose digits in many readers. */
void json_hex(struct json_writer *json, const char *key, uint64_t value);

#endif
