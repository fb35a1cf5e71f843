/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads suppressions in the format of LeakSanitizer: lines "leak:PATTERN", comments that begin with
 * #, and empty lines. A pattern matches any part of the name of a function, or any part of the path
 * of a module or source file. In a pattern, * stands for any text, a leading ^ for the start of the
 * name or path, and a trailing $ for its end. This module knows nothing of sites.
 */
#ifndef OPTIONS_SUPPRESSIONS_H
#define OPTIONS_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>

struct suppressions {
	char **patterns; /* patterns in the order in which they were read, to be freed */
	size_t cnt;
	size_t cap;
};

/*
 * Adds the patterns of a regular file. On failure, returns a negative errno and sets *why to a
 * message with the file's name and, for an invalid line, its number. The message is to be freed; it
 * is NULL if out of memory.
 */
int suppressions_read(struct suppressions *suppressions, const char *path, char **why);
/*
 * Like suppressions_read(), but parses `text`, which may be invalid. path: name for error messages.
 */
int suppressions_parse(struct suppressions *suppressions, const char *path, const char *text,
		       size_t len, char **why);
void suppressions_deinit(struct suppressions *suppressions);

/*
 * True if the pattern matches the text. Whatever the pattern is, the time is proportional to the
 * length of the text.
 */
bool suppression_matches(const char *pattern, const char *text);

/*
 * Returns a pattern that matches this name as a whole, to be freed; NULL if out of memory.
 * Characters that are not allowed in a suppression file are replaced by asterisks.
 */
char *suppression_of(const char *name);

#endif
