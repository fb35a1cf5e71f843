// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Splits a command into words like a POSIX shell.
 */
#include "options/shell_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

/* State of the splitter. The buffer `word` is as large as the whole text, so any word fits. */
struct splitter {
	const char *next;
	char *word;
	size_t len;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static int take_single_quoted(struct splitter *in)
{
	while (*in->next != '\'') {
		if (!*in->next)
			return -EINVAL;
		in->word[in->len++] = *in->next++;
	}
	in->next++;
	return 0;
}

/*
 * True if a backslash within double quotes escapes `c`. Before any other character, the backslash
 * is an ordinary character. Exception: a backslash and the newline after it are dropped.
 */
static bool is_quotable(char c)
{
	return c == '$' || c == '`' || c == '"' || c == '\\';
}

static int take_double_quoted(struct splitter *in)
{
	while (*in->next != '"') {
		if (!*in->next)
			return -EINVAL;
		if (in->next[0] == '\\' && in->next[1] == '\n') {
			in->next += 2;
			continue;
		}
		if (in->next[0] == '\\' && is_quotable(in->next[1]))
			in->next++;
		in->word[in->len++] = *in->next++;
	}
	in->next++;
	return 0;
}

static void take_backslash(struct splitter *in)
{
	if (*in->next == '\n') {
		in->next++;
		return;
	}
	in->word[in->len++] = *in->next ? *in->next++ : '\\';
}

/*
 * Skips blanks between words. Also skips a backslash with the newline after it, which joins two
 * lines.
 */
static void skip_blanks(struct splitter *in)
{
	for (;;) {
		if (is_blank(*in->next))
			in->next++;
		else if (in->next[0] == '\\' && in->next[1] == '\n')
			in->next += 2;
		else
			return;
	}
}

static int take_word(struct splitter *in)
{
	int err = 0;

	in->len = 0;
	while (*in->next && !is_blank(*in->next) && !err) {
		char c = *in->next++;

		if (c == '\'')
			err = take_single_quoted(in);
		else if (c == '"')
			err = take_double_quoted(in);
		else if (c == '\\')
			take_backslash(in);
		else
			in->word[in->len++] = c;
	}
	return err;
}

struct words {
	char **items; /* NULL-terminated */
	size_t cnt;
	size_t cap;
};

static int append_word(struct words *words, const struct splitter *in)
{
	if (array_reserve(&words->items, &words->cap, words->cnt + 2))
		return -ENOMEM;
	words->items[words->cnt] = strndup(in->word, in->len);
	if (!words->items[words->cnt])
		return -ENOMEM;
	words->items[++words->cnt] = NULL;
	return 0;
}

int shell_words_split(const char *text, char ***ret)
{
	cleanup_free char *buffer = malloc(strlen(text) + 1);
	struct splitter in = {.next = text, .word = buffer};
	struct words words = {0};
	int err = 0;

	if (!buffer)
		return -ENOMEM;
	for (skip_blanks(&in); *in.next; skip_blanks(&in)) {
		err = take_word(&in);
		if (!err)
			err = append_word(&words, &in);
		if (err)
			goto err;
	}
	if (!words.cnt)
		return -ENODATA;
	*ret = words.items;
	return 0;
err:
	shell_words_free(words.items);
	return err;
}

void shell_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
