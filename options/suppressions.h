/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suppressions as LeakSanitizer has them: a file of lines "leak:PATTERN", comments that begin with
 * a # and empty lines. A pattern is found anywhere in the name of a function, in the path of a
 * module or of a source file; in it * stands for any characters, ^ at its beginning for the
 * beginning and $ at its end for the end of the name. Knows files and names, no sites.
 */
#ifndef OPTIONS_SUPPRESSIONS_H
#define OPTIONS_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>

struct suppressions {
	char **patterns; /* in the order in which they were read */
	size_t cnt;
	size_t cap;
};

/*
 * Adds what a file says. On failure returns a negative errno with *why set to what is wrong, with
 * the file's name and the line (from malloc; NULL when there was no memory).
 */
int suppressions_read(struct suppressions *suppressions, const char *path, char **why);
/* The same of a text, which may hold any bytes. */
int suppressions_parse(struct suppressions *suppressions, const char *path, const char *text,
		       size_t len, char **why);
void suppressions_deinit(struct suppressions *suppressions);

/* Takes time in proportion to the length of text, whatever the pattern. */
bool suppression_matches(const char *pattern, const char *text);

/*
 * A pattern for what has this name and nothing else; characters that cannot stand in a file are
 * left open. From malloc; NULL: out of memory.
 */
char *suppression_of(const char *name);

#endif
