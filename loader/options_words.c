// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Splits a command into words as a POSIX shell does: blanks separate, quotes and backslashes
 * join. Nothing is expanded, and operators such as | and > are letters like any others.
 */
#include <errno.h>
#include <string.h>

#include "loader/cleanup.h"
#include "loader/options_table.h"

/* A word is never longer than the text it comes from, so one buffer of that size serves all. */
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

/* Within double quotes a backslash quotes only these; before others it stands for itself. */
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

/* A backslash before a newline joins lines: between words it is not a word of its own. */
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

static int append_word(char ***words, size_t *cnt, const struct splitter *in)
{
	char **grown = reallocarray(*words, *cnt + 2, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*words = grown;
	grown[*cnt] = strndup(in->word, in->len);
	if (!grown[*cnt])
		return -ENOMEM;
	grown[++*cnt] = NULL;
	return 0;
}

/* -EINVAL: a quote is not closed; -ENODATA: no word at all. */
int words_split(const char *text, char ***ret)
{
	cleanup_free char *buffer = malloc(strlen(text) + 1);
	struct splitter in = {.next = text, .word = buffer};
	char **words = NULL;
	size_t cnt = 0;
	int err = 0;

	if (!buffer)
		return -ENOMEM;
	for (skip_blanks(&in); *in.next; skip_blanks(&in)) {
		err = take_word(&in);
		if (!err)
			err = append_word(&words, &cnt, &in);
		if (err)
			goto err;
	}
	if (!cnt)
		return -ENODATA;
	*ret = words;
	return 0;
err:
	words_free(words);
	return err;
}

void words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
