// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the JSON writer, and the JSON checker that other tests use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "report/snapshot.h"
#include "sinks/json_writer.h"
#include "sinks/kernel_line.h"
#include "tests/unit/lib/json_check.h"

struct written {
	struct json_writer json;
	char *text;
	size_t len;
};

static void begin(struct written *w)
{
	FILE *out = open_memstream(&w->text, &w->len);

	assert_non_null(out);
	json_init(&w->json, out);
}

static void expect(struct written *w, const char *text)
{
	fclose(w->json.out);
	assert_string_equal(w->text, text);
	assert_true(json_is_valid(w->text));
	free(w->text);
}

static void structure(void **state)
{
	struct written w;

	begin(&w);
	json_begin_object(&w.json, NULL);
	json_begin_array(&w.json, "empty");
	json_end_array(&w.json);
	json_begin_object(&w.json, "none");
	json_end_object(&w.json);
	json_begin_array(&w.json, "list");
	json_unsigned(&w.json, NULL, UINT64_MAX);
	json_signed(&w.json, NULL, INT64_MIN);
	json_begin_object(&w.json, NULL);
	json_bool(&w.json, "yes", true);
	json_bool(&w.json, "no", false);
	json_end_object(&w.json);
	json_begin_object(&w.json, NULL);
	json_null(&w.json, "nothing");
	json_end_object(&w.json);
	json_end_array(&w.json);
	json_string(&w.json, "unknown", NULL);
	json_hex(&w.json, "hex", 0xdeadbeef);
	json_hex(&w.json, "zero", 0);
	json_end_object(&w.json);
	expect(&w, "{\"empty\":[],\"none\":{},\"list\":[18446744073709551615,"
		   "-9223372036854775808,{\"yes\":true,\"no\":false},{\"nothing\":null}],"
		   "\"unknown\":null,\"hex\":\"0xdeadbeef\",\"zero\":\"0x0\"}");
}

static void strings(void **state)
{
	static const struct {
		const char *from;
		const char *to;
	} cases[] = {
		{"", "\"\""},
		{"plain", "\"plain\""},
		{"a\"b\\c/d", "\"a\\\"b\\\\c/d\""},
		{"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
		{"\x01\x1b[31m\x7f", "\"\\u0001\\u001b[31m\\u007f\""},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa7",
		 "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa7\""},
		{"\xc2\x9b", "\"\\u009b\""},                  /* C1 */
		{"\xe2\x80\xae", "\"\\u202e\""},              /* right-to-left override */
		{"\xe2\x80\xa8", "\"\\u2028\""},              /* line end in JavaScript */
		{"\xf3\xa0\x81\x81", "\"\\udb40\\udc41\""},   /* tag A, U+E0041 */
		{"a\xff\x62", "\"a\xef\xbf\xbd\x62\""},       /* invalid UTF-8 */
		{"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""}, /* overlong */
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* surrogate */
		{"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                 /* truncated */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct written w;

		begin(&w);
		json_string(&w.json, NULL, cases[i].from);
		expect(&w, cases[i].to);
	}
}

/* In an HTML report, strings are escaped: none can close the script element or open another one. */
static void strings_in_html(void **state)
{
	struct written w;

	begin(&w);
	w.json.in_html = true;
	json_begin_object(&w.json, NULL);
	json_string(&w.json, "<", "</script>\"<!--");
	json_end_object(&w.json);
	expect(&w, "{\"\\u003c\":\"\\u003c/script>\\\"\\u003c!--\"}");
}

/* The JSON is valid whatever two bytes follow the first byte of a three-byte character. */
static void any_bytes(void **state)
{
	for (unsigned int word = 0x0101; word <= 0xffff; word++) {
		char text[5] = {'\xe2', (char)word, (char)(word >> 8), 'x', 0};
		struct written w;

		begin(&w);
		json_string(&w.json, NULL, text);
		fclose(w.json.out);
		assert_true(json_is_valid(w.text));
		free(w.text);
	}
}

static void checker_is_strict(void **state)
{
	static const char *const good[] = {
		"0", "-0.5e+10", " [ ] ", "{\"a\" : [1, 2,{}]}", "\"\\u00e9\\/\"", "true",
	};
	static const char *const bad[] = {
		"",
		"01",
		"+1",
		"1.",
		".5",
		"1e",
		"nan",
		"[1,]",
		"[1 2]",
		"{\"a\":1,}",
		"{a:1}",
		"{\"a\"}",
		"{\"a\":1,\"a\":2}",
		"\"a",
		"\"\t\"",
		"\"\\x41\"",
		"\"\\u12\"",
		"1 1",
		"\"\xff\"",
		"\"\xc0\x80\"",
		"\"\xed\xa0\x80\"",
		"\"\xf4\x90\x80\x80\"",
		"[",
		"}",
		"\"\xe2\x82",
		"\"\\",
		"nul",
		"{\"a\":}",
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!json_is_valid(good[i]))
			fail_msg("refused: %s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (json_is_valid(bad[i]))
			fail_msg("taken: %s", bad[i]);
	assert_true(json_lines_are_valid("{}\n[1]\n"));
	assert_true(json_lines_are_valid(""));
	assert_false(json_lines_are_valid("{}\n[1]"));
	assert_false(json_lines_are_valid("{\n}\n"));
	assert_false(json_lines_are_valid("{} {}\n"));
	assert_false(json_lines_are_valid("{}\n\n"));
}

/* "reclaimable" is null for a slab cache if it is not known whether the kernel can reclaim it. */
static void unknown_reclaim(void **state)
{
	const struct kernel_growth growths[] = {{.name = "dentry", .reclaim = RECLAIM_YES},
						{.name = "lost", .reclaim = RECLAIM_UNKNOWN},
						{.name = "vm_area", .reclaim = RECLAIM_NO}};
	const struct snapshot snap = {.kernel_memory.unreclaimable = 1,
				      .kernel_growths = growths,
				      .kernel_growth_cnt = 3};
	struct written w;
	char *at;

	begin(&w);
	json_begin_object(&w.json, NULL);
	kernel_write_json(&w.json, &snap);
	json_end_object(&w.json);
	fclose(w.json.out);
	assert_true(json_is_valid(w.text));
	at = strstr(w.text, "\"reclaimable\":true}");
	assert_non_null(at);
	at = strstr(at, "\"reclaimable\":null}");
	assert_non_null(at);
	assert_non_null(strstr(at, "\"reclaimable\":false}"));
	free(w.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structure),         cmocka_unit_test(strings),
		cmocka_unit_test(strings_in_html),   cmocka_unit_test(any_bytes),
		cmocka_unit_test(checker_is_strict), cmocka_unit_test(unknown_reclaim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
