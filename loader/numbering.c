// SPDX-License-Identifier: GPL-2.0-or-later
/* A balanced tree of the C library, whatever order hostile names come in. */
#include "loader/numbering.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct numbered {
	size_t number;
	size_t len;
	const void *bytes; /* those of a kept one stand behind it */
};

static int compare(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;

	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return memcmp(a->bytes, b->bytes, a->len);
}

size_t numbering_of(struct numbering *numbering, const void *bytes, size_t len, bool *is_new)
{
	const struct numbered key = {.len = len, .bytes = bytes};
	struct numbered *const *found = tfind(&key, &numbering->tree, compare);
	struct numbered *entry;

	*is_new = false;
	if (found)
		return (*found)->number;
	entry = malloc(sizeof(*entry) + len);
	if (!entry)
		return 0;
	*entry = (struct numbered){numbering->cnt + 1, len, memcpy(entry + 1, bytes, len)};
	if (!tsearch(entry, &numbering->tree, compare)) {
		free(entry);
		return 0;
	}
	*is_new = true;
	return ++numbering->cnt;
}

void numbering_deinit(struct numbering *numbering)
{
	tdestroy(numbering->tree, free);
	*numbering = (struct numbering){0};
}
