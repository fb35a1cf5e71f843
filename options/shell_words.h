/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits a command into words as a POSIX shell does: blanks separate, quotes and backslashes join.
 * Nothing is expanded, and operators such as '|' and '>' are ordinary characters.
 */
#ifndef OPTIONS_SHELL_WORDS_H
#define OPTIONS_SHELL_WORDS_H

/*
 * Stores the words, NULL-terminated, in *ret. Returns 0, -EINVAL if a quote is not closed, -ENODATA
 * if there are no words, or -ENOMEM.
 */
int shell_words_split(const char *text, char ***ret);
void shell_words_free(char **words);

#endif
