// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests UTF-8 decoding, and escaping of terminal output and of log lines. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/log.h"
#include "tests/unit/lib/capture.h"

static char *escaped(const char *bytes, size_t len)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	escape_write(out, bytes, len);
	fclose(out);
	assert_int_equal(strlen(text), size);
	return text;
}

static void texts(void **state)
{
	static const struct {
		const char *from;
		const char *to;
	} cases[] = {
		{"", ""},
		{"std::map<int, char*>::operator[](int const&)",
		 "std::map<int, char*>::operator[](int const&)"},
		{"C:\\x41", "C:\\x41"},
		{"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xa7",
		 "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xa7"},
		{"a\nb\tc\r", "a\\x0ab\\x09c\\x0d"},
		{"\x1b[2J\x7f", "\\x1b[2J\\x7f"},
		{"\xc2\x9b"
		 "31m",
		 "\\xc2\\x9b31m"},
		{"\xc2\xa0", "\xc2\xa0"},
		{"\xe2\x80\xae"
		 "evil",
		 "\\xe2\\x80\\xaeevil"},
		{"\xe2\x81\xa6", "\\xe2\\x81\\xa6"},
		{"\xe2\x80\x8b", "\\xe2\\x80\\x8b"},
		{"\xef\xbb\xbf", "\\xef\\xbb\\xbf"},
		{"\xff\xfe", "\\xff\\xfe"},
		{"\xc3", "\\xc3"},
		{"\xe2\x82", "\\xe2\\x82"},
		{"\xe2\x82z", "\\xe2\\x82z"},
		{"\xc0\xaf", "\\xc0\\xaf"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
		{"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cleanup_free char *text = escaped(cases[i].from, strlen(cases[i].from));

		assert_string_equal(text, cases[i].to);
	}
}

static void zero_byte_within(void **state)
{
	cleanup_free char *text = escaped("a\0b", 3);

	assert_string_equal(text, "a\\x00b");
}

static size_t encode(uint32_t c, char *to)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Four-byte UTF-8 can encode numbers beyond Unicode: only valid code points are accepted. */
static void every_character(void **state)
{
	for (uint32_t c = 0; c < 0x1fffff; c++) {
		bool exists = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
		char bytes[4];
		size_t len = encode(c, bytes);
		uint32_t decoded = ~0U;

		if (!exists) {
			assert_int_equal(utf8_decode(bytes, len, &decoded), 0);
			continue;
		}
		assert_int_equal(utf8_decode(bytes, len, &decoded), len);
		assert_int_equal(decoded, c);
		if (len > 1)
			assert_int_equal(utf8_decode(bytes, len - 1, &decoded), 0);
	}
}

/* For every pair of bytes, the escaped output has no control character. */
static void every_pair(void **state)
{
	for (unsigned int word = 0; word <= 0xffff; word++) {
		char bytes[2] = {(char)word, (char)(word >> 8)};
		cleanup_free char *text = escaped(bytes, sizeof(bytes));

		for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
			assert_true(*c >= 0x20 && *c != 0x7f);
			if (c[0] == 0xc2)
				assert_true(c[1] >= 0xa0);
		}
	}
}

static char *logged(void (*print)(const char *, ...), const char *text)
{
	struct capture capture;

	capture_begin(&capture, STDERR_FILENO);
	errno = ENOENT;
	print("%s", text);
	assert_int_equal(errno, ENOENT);
	return capture_end(&capture);
}

static void log_lines(void **state)
{
	static const struct {
		const char *from;
		const char *to;
	} cases[] = {
		{"cannot read /tmp/x", "memleak: cannot read /tmp/x\n"},
		{"libbpf: has its own newline\n", "memleak: libbpf: has its own newline\n"},
		{"two\nlines", "memleak: two\\x0alines\n"},
		{"\x1b]0;title\x07\xff", "memleak: \\x1b]0;title\\x07\\xff\n"},
		{"", "memleak: \n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cleanup_free char *error = logged(log_error, cases[i].from);
		cleanup_free char *note = logged(log_note, cases[i].from);

		assert_string_equal(error, cases[i].to);
		assert_string_equal(note, cases[i].to);
	}
}

static void log_levels(void **state)
{
	for (unsigned int level = 0; level <= 2; level++) {
		cleanup_free char *text = NULL;

		log_set_verbosity(level);
		assert_int_equal(log_verbosity(), level);
		text = logged(log_verbose, "detail");
		assert_string_equal(text, level ? "memleak: detail\n" : "");
	}
	log_set_verbosity(0);
}

/* A name of a megabyte is logged in full. */
static void log_long(void **state)
{
	size_t len = 1 << 20;
	cleanup_free char *name = malloc(len + 1);
	cleanup_free char *text = NULL;

	assert_non_null(name);
	memset(name, 'n', len);
	name[len] = 0;
	text = logged(log_error, name);
	assert_int_equal(strlen(text), strlen("memleak: ") + len + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),           cmocka_unit_test(zero_byte_within),
		cmocka_unit_test(every_character), cmocka_unit_test(every_pair),
		cmocka_unit_test(log_lines),       cmocka_unit_test(log_levels),
		cmocka_unit_test(log_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
