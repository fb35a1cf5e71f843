/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads suppressions in the format of LeakSanitizer: lines "leak:PATTERN", comments that begin with
 * # and empty lines. A pattern matches any part of the name of a function, or of the path of a
 * module or source file. In a pattern, * matches any characters, a leading ^ the start of the name,
 * and a trailing $ its end. It knows nothing of sites.
 */
#ifndef OPTIONS_SUPPRESSIONS_H
#define OPTIONS_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>

struct suppressions {
	char **patterns; /* patterns in the order of reading */
	size_t cnt;
	size_t cap;
};

/*
 * Adds the patterns of a file. On failure returns a negative errno and sets *why to a message with
 * the file's name and the line (to be freed; NULL if there is no memory).
 */
int suppressions_read(struct suppressions *suppressions, const char *path, char **why);
/* Like suppressions_read(), but parses text, which may hold any bytes. */
int suppressions_parse(struct suppressions *suppressions, const char *path, const char *text,
		       size_t len, char **why);
void suppressions_deinit(struct suppressions *suppressions);

/* Matches text in time proportional to its length, for any pattern. */
bool suppression_matches(const char *pattern, const char *text);

/*
 * Returns a pattern that matches this exact name, to be freed; NULL if there is no memory.
 * Characters that a file cannot hold are replaced by asterisks.
 */
char *suppression_of(const char *name);

#endif
