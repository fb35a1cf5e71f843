/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits a command into words like a POSIX shell: words are separated by blanks, except within
 * quotes or after a backslash. Nothing is expanded. Operators such as '|' and '>' are ordinary
 * characters.
 */
#ifndef OPTIONS_SHELL_WORDS_H
#define OPTIONS_SHELL_WORDS_H

/*
 * Sets *ret to the words, with NULL at the end. Returns 0, -EINVAL if a quote is not closed,
 * -ENODATA if there are no words, or -ENOMEM.
 */
int shell_words_split(const char *text, char ***ret);
void shell_words_free(char **words);

#endif
