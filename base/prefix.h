/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the beginning of a text with prefixes that it usually does not have. */
#ifndef BASE_PREFIX_H
#define BASE_PREFIX_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the rest of a text that begins with the prefix; NULL if the text does not. */
static inline const char *behind_prefix(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return *prefix ? NULL : text;
}

static inline bool has_prefix_of(const char *text, const char *const *prefixes, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (behind_prefix(text, prefixes[i]))
			return true;
	return false;
}

#endif
