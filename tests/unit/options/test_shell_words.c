// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that -c CMD is split into words like in a POSIX shell. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "options/shell_words.h"

/* Returns the words of a command line, each in brackets. */
static char *split(const char *text)
{
	char **words;
	char *joined = NULL;
	size_t len;
	FILE *out = open_memstream(&joined, &len);

	assert_non_null(out);
	assert_int_equal(shell_words_split(text, &words), 0);
	for (size_t i = 0; words[i]; i++)
		fprintf(out, "[%s]", words[i]);
	fclose(out);
	shell_words_free(words);
	return joined;
}

static const struct {
	const char *from;
	const char *to;
} cases[] = {
	{"true", "[true]"},
	{"  ls\t-l \n /tmp  ", "[ls][-l][/tmp]"},
	{"echo 'a  b' \"c  d\" e\\ f", "[echo][a  b][c  d][e f]"},
	{"a'b'\"c\"d", "[abcd]"},
	{"'' \"\" x''y", "[][][xy]"},
	{"'\\' '\"' \"'\"", "[\\][\"][']"},
	{"\"a\\\"b\\\\c\\$d\\`e\"", "[a\"b\\c$d`e]"},
	{"\"a\\bc\\ d\"", "[a\\bc\\ d]"},
	{"a\\\nb \\\n c \"d\\\ne\"", "[ab][c][de]"},
	{"'a\nb'", "[a\nb]"},
	{"\\'x\\' \\\\ \\a", "['x'][\\][a]"},
	{"x '$HOME' '*' '~'", "[x][$HOME][*][~]"},
	{"caf\xc3\xa9 \xff", "[caf\xc3\xa9][\xff]"},
};

static void words(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cleanup_free char *text = split(cases[i].from);

		assert_string_equal(text, cases[i].to);
	}
}

/* Unlike in a shell, nothing is expanded and operators have no meaning. */
static void plain_letters(void **state)
{
	static const struct {
		const char *from;
		const char *to;
	} letters[] = {
		{"echo $HOME `id` * ~ {a,b}", "[echo][$HOME][`id`][*][~][{a,b}]"},
		{"a|b >c &d;e <f", "[a|b][>c][&d;e][<f]"},
		{"a # b", "[a][#][b]"},
		{"X=1 true", "[X=1][true]"},
		{"end\\", "[end\\]"},
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		cleanup_free char *text = split(letters[i].from);

		assert_string_equal(text, letters[i].to);
	}
}

/*
 * Compares with /bin/sh. Texts with an unquoted newline are skipped, as the newline would end the
 * command that eval runs.
 */
static void same_as_shell(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cleanup_free char *text = split(cases[i].from);
		char answer[256] = "";
		FILE *shell;

		if (strstr(cases[i].from, " \n"))
			continue;
		setenv("WORDS", cases[i].from, 1);
		shell = popen("eval \"printf '[%s]' $WORDS\"", "r");
		assert_non_null(shell);
		assert_true(fread(answer, 1, sizeof(answer) - 1, shell) > 0);
		assert_int_equal(pclose(shell), 0);
		assert_string_equal(answer, text);
	}
}

static void refused(void **state)
{
	static const char *const open_quotes[] = {
		"'", "\"", "a 'b", "a \"b", "\"a\\\"", "'a\\''", "'a' \"", "\"\\",
	};
	static const char *const empty[] = {"", " ", "\t\n ", "\\\n", " \\\n \\\n"};
	char **words = (char **)&words;

	for (size_t i = 0; i < sizeof(open_quotes) / sizeof(open_quotes[0]); i++)
		assert_int_equal(shell_words_split(open_quotes[i], &words), -EINVAL);
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
		assert_int_equal(shell_words_split(empty[i], &words), -ENODATA);
	assert_ptr_equal(words, &words);
}

static void long_text(void **state)
{
	size_t cnt = 20000;
	cleanup_free char *text = malloc(2 * cnt + 1);
	char **words;

	assert_non_null(text);
	for (size_t i = 0; i < cnt; i++)
		memcpy(text + 2 * i, "w ", 3);
	assert_int_equal(shell_words_split(text, &words), 0);
	for (size_t i = 0; i < cnt; i++)
		assert_string_equal(words[i], "w");
	assert_null(words[cnt]);
	shell_words_free(words);
	shell_words_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),         cmocka_unit_test(plain_letters),
		cmocka_unit_test(same_as_shell), cmocka_unit_test(refused),
		cmocka_unit_test(long_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
