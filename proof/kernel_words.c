// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the numbers behind keywords. Reads a file in pieces, since it may have 100 MB. */
#include "proof/kernel_words.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/number.h"

/* Size of a piece in bytes. Lines are shorter. */
#define PIECE_BYTES 65536

/* A keyword that stands before user data. */
struct keyword {
	enum kernel_file kind;
	const char *word;
	unsigned int base;
};

/*
 * The user data of an io_uring completion follows "user_data:", or "user_data=" if the completion
 * did not fit into the ring. Lines of timers look like "signal: 60/00007fff86e452a8".
 */
static const struct keyword keywords[] = {
	{KERNEL_FILE_EPOLL, "data:", 16},
	{KERNEL_FILE_URING, "user_data:", 10},
	{KERNEL_FILE_URING, "user_data=", 10},
	{KERNEL_FILE_TIMERS, "/", 16},
};
#define KEYWORD_CNT (sizeof(keywords) / sizeof(keywords[0]))

/* Adds the number after each occurrence of a keyword in the text. */
static int add_numbers(struct kernel_words *words, const char *text, const struct keyword *keyword,
		       size_t max)
{
	const char *at = text;

	while ((at = strstr(at, keyword->word))) {
		uint64_t number;

		at += strlen(keyword->word);
		at += strspn(at, " ");
		if (number_take(&at, NULL, keyword->base, &number))
			continue;
		if (words->cnt >= max)
			return -E2BIG;
		if (array_reserve(&words->items, &words->cap, words->cnt + 1))
			return -ENOMEM;
		words->items[words->cnt++] = number;
	}
	return 0;
}

static int add_all(struct kernel_words *words, const char *text, enum kernel_file kind, size_t max)
{
	int err = 0;

	for (size_t i = 0; !err && i < KEYWORD_CNT; i++)
		if (keywords[i].kind == kind)
			err = add_numbers(words, text, &keywords[i], max);
	return err;
}

/* Parses the complete lines of a piece, and moves the rest to its beginning. */
static int take_lines(char *piece, size_t *len, enum kernel_file kind, size_t max,
		      struct kernel_words *words)
{
	char *newline = memrchr(piece, '\n', *len);
	size_t parsed = newline ? (size_t)(newline - piece) + 1 : *len;
	int err;

	if (!newline && *len < PIECE_BYTES)
		return 0;
	piece[parsed - 1] = '\0';
	err = add_all(words, piece, kind, max);
	*len -= parsed;
	memmove(piece, piece + parsed, *len);
	return err;
}

int kernel_words_read(int fd, enum kernel_file kind, size_t max, struct kernel_words *words)
{
	char piece[PIECE_BYTES];
	size_t len = 0;
	ssize_t got;
	int err = 0;

	while (!err && (got = read(fd, piece + len, sizeof(piece) - len)) != 0) {
		if (got < 0)
			return -errno;
		len += (size_t)got;
		err = take_lines(piece, &len, kind, max, words);
	}
	return err;
}
