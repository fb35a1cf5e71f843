// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes JSON as a stream. */
#include "sinks/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"

#define REPLACEMENT "\xef\xbf\xbd"

void json_init(struct json_writer *json, FILE *out)
{
	json->out = out;
	json->comma = false;
	json->in_html = false;
}

static void write_unit(FILE *out, uint32_t unit)
{
	fprintf(out, "\\u%04" PRIx32, unit);
}

/*
 * Writes a character, escaped if necessary. Escapes more than JSON requires: people also read it on
 * terminals.
 */
static void write_character(FILE *out, uint32_t character, const char *bytes, size_t len)
{
	static const char short_from[] = "\"\\\b\f\n\r\t";
	static const char short_to[] = "\"\\bfnrt";
	const char *known =
		character && character < 0x80 ? strchr(short_from, (int)character) : NULL;

	if (known) {
		fprintf(out, "\\%c", short_to[known - short_from]);
	} else if (is_plain_character(character)) {
		fwrite(bytes, 1, len, out);
	} else if (character > 0xffff) {
		write_unit(out, 0xd800 + ((character - 0x10000) >> 10));
		write_unit(out, 0xdc00 + ((character - 0x10000) & 0x3ff));
	} else {
		write_unit(out, character);
	}
}

/*
 * Writes the characters at the beginning of `text` that need no escaping or, if there are none, the
 * first character. Returns how many bytes of `text` it has written.
 */
static size_t write_some(const struct json_writer *json, const char *text, size_t left)
{
	size_t len = ascii_run(text, left, json->in_html ? "\"\\<" : "\"\\");
	FILE *out = json->out;
	uint32_t character;

	if (len) {
		fwrite(text, 1, len, out);
		return len;
	}
	len = utf8_decode(text, left, &character);
	if (!len) {
		fputs(REPLACEMENT, out);
		return 1;
	}
	if (json->in_html && character == '<')
		write_unit(out, character);
	else
		write_character(out, character, text, len);
	return len;
}

static void write_text(const struct json_writer *json, const char *text)
{
	size_t left = strlen(text);

	fputc('"', json->out);
	while (left) {
		size_t len = write_some(json, text, left);

		text += len;
		left -= len;
	}
	fputc('"', json->out);
}

static void write_key(struct json_writer *json, const char *key)
{
	if (json->comma)
		fputc(',', json->out);
	json->comma = true;
	if (key) {
		write_text(json, key);
		fputc(':', json->out);
	}
}

static void begin(struct json_writer *json, const char *key, char bracket)
{
	write_key(json, key);
	fputc(bracket, json->out);
	json->comma = false;
}

static void end(struct json_writer *json, char bracket)
{
	fputc(bracket, json->out);
	json->comma = true;
}

void json_begin_object(struct json_writer *json, const char *key)
{
	begin(json, key, '{');
}

void json_end_object(struct json_writer *json)
{
	end(json, '}');
}

void json_begin_array(struct json_writer *json, const char *key)
{
	begin(json, key, '[');
}

void json_end_array(struct json_writer *json)
{
	end(json, ']');
}

void json_null(struct json_writer *json, const char *key)
{
	write_key(json, key);
	fputs("null", json->out);
}

void json_bool(struct json_writer *json, const char *key, bool value)
{
	write_key(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_unsigned(struct json_writer *json, const char *key, uint64_t value)
{
	write_key(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_signed(struct json_writer *json, const char *key, int64_t value)
{
	write_key(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_real(struct json_writer *json, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	write_key(json, key);
	fprintf(json->out, "%.6g", value);
}

void json_string(struct json_writer *json, const char *key, const char *value)
{
	if (!value) {
		json_null(json, key);
		return;
	}
	write_key(json, key);
	write_text(json, value);
}

void json_hex(struct json_writer *json, const char *key, uint64_t value)
{
	write_key(json, key);
	fprintf(json->out, "\"0x%" PRIx64 "\"", value);
}
