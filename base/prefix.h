/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the beginning of a text with a prefix that it usually does not have. */
#ifndef BASE_PREFIX_H
#define BASE_PREFIX_H

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

#endif
