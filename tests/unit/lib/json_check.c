// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A strict JSON checker (RFC 8259): accepts one value in valid UTF-8 without duplicate keys in any
 * object.
 */
#include "tests/unit/lib/json_check.h"

#include <stddef.h>
#include <string.h>

#define JSON_MAX_KEYS 64
#define JSON_MAX_DEPTH 32

struct json_text {
	const char *at; /* next character to check; NULL once the text is known to be invalid */
	unsigned int depth;
};

static void json_check_value(struct json_text *in);

static void json_fail(struct json_text *in)
{
	in->at = NULL;
}

static bool json_take(struct json_text *in, char c)
{
	if (!in->at || *in->at != c)
		return false;
	in->at++;
	return true;
}

/* Skips whitespace between tokens. */
static void json_blanks(struct json_text *in)
{
	while (in->at && *in->at && strchr(" \t\r\n", *in->at))
		in->at++;
}

static bool json_is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Checks one multi-byte UTF-8 character. */
static void json_check_wide(struct json_text *in)
{
	const unsigned char *s = (const unsigned char *)in->at;
	size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;

	if (s[0] < 0xc2 || s[0] > 0xf4)
		return json_fail(in);
	for (size_t i = 1; i < len; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return json_fail(in);
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return json_fail(in);
	in->at += len;
}

static void json_check_escape(struct json_text *in)
{
	char c = *in->at;

	if (c == 'u') {
		for (int i = 1; i <= 4; i++)
			if (!json_is_hex(in->at[i]))
				return json_fail(in);
		in->at += 5;
	} else if (c && strchr("\"\\/bfnrt", c)) {
		in->at++;
	} else {
		json_fail(in);
	}
}

static void json_check_string(struct json_text *in)
{
	if (!json_take(in, '"'))
		return json_fail(in);
	while (in->at && *in->at != '"') {
		unsigned char c = (unsigned char)*in->at;

		if (c < 0x20)
			json_fail(in);
		else if (c >= 0x80)
			json_check_wide(in);
		else if (json_take(in, '\\'))
			json_check_escape(in);
		else
			in->at++;
	}
	json_take(in, '"');
}

static void json_digits(struct json_text *in)
{
	if (!in->at || *in->at < '0' || *in->at > '9')
		return json_fail(in);
	while (*in->at >= '0' && *in->at <= '9')
		in->at++;
}

static void json_check_number(struct json_text *in)
{
	json_take(in, '-');
	if (!json_take(in, '0'))
		json_digits(in);
	if (json_take(in, '.'))
		json_digits(in);
	if (json_take(in, 'e') || json_take(in, 'E')) {
		if (!json_take(in, '+'))
			json_take(in, '-');
		json_digits(in);
	}
}

static void json_check_array(struct json_text *in)
{
	json_blanks(in);
	if (json_take(in, ']'))
		return;
	do {
		json_check_value(in);
	} while (json_take(in, ','));
	if (!json_take(in, ']'))
		json_fail(in);
}

static void json_check_object(struct json_text *in)
{
	struct {
		const char *start;
		size_t len;
	} keys[JSON_MAX_KEYS];
	size_t cnt = 0;

	json_blanks(in);
	if (json_take(in, '}'))
		return;
	do {
		json_blanks(in);
		if (!in->at || cnt == JSON_MAX_KEYS)
			return json_fail(in);
		keys[cnt].start = in->at;
		json_check_string(in);
		if (!in->at)
			return;
		keys[cnt].len = (size_t)(in->at - keys[cnt].start);
		for (size_t i = 0; i < cnt; i++)
			if (keys[i].len == keys[cnt].len &&
			    !memcmp(keys[i].start, keys[cnt].start, keys[i].len))
				return json_fail(in);
		cnt++;
		json_blanks(in);
		if (!json_take(in, ':'))
			return json_fail(in);
		json_check_value(in);
	} while (json_take(in, ','));
	if (!json_take(in, '}'))
		json_fail(in);
}

static void json_check_value(struct json_text *in)
{
	static const char *const words[] = {"null", "true", "false"};

	json_blanks(in);
	if (!in->at || ++in->depth > JSON_MAX_DEPTH)
		return json_fail(in);
	for (size_t i = 0; i < 3; i++) {
		if (!strncmp(in->at, words[i], strlen(words[i]))) {
			in->at += strlen(words[i]);
			goto out;
		}
	}
	if (json_take(in, '{'))
		json_check_object(in);
	else if (json_take(in, '['))
		json_check_array(in);
	else if (*in->at == '"')
		json_check_string(in);
	else
		json_check_number(in);
out:
	in->depth--;
	json_blanks(in);
}

bool json_is_valid(const char *text)
{
	struct json_text in = {.at = text};

	json_check_value(&in);
	return in.at && !*in.at;
}

bool json_lines_are_valid(const char *text)
{
	while (*text) {
		const char *end = strchr(text, '\n');
		struct json_text in = {.at = text};

		if (!end)
			return false;
		json_check_value(&in);
		if (in.at != end + 1) /* the newline was skipped as whitespace */
			return false;
		text = end + 1;
	}
	return true;
}
