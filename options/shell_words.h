/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits a command into words as a POSIX shell does: blanks separate, quotes and backslashes
 * join. Nothing is expanded, and operators such as | and > are letters like any others.
 */
#ifndef OPTIONS_SHELL_WORDS_H
#define OPTIONS_SHELL_WORDS_H

/*
 * *ret: the words, ended by NULL. 0, -EINVAL: a quote is not closed, -ENODATA: there is no word,
 * -ENOMEM.
 */
int shell_words_split(const char *text, char ***ret);
void shell_words_free(char **words);

#endif
