// SPDX-License-Identifier: GPL-2.0-or-later
/* Grows arrays by doubling their capacity. */
#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge_pages.h"

#define FIRST_CAP 8

int array_grow(void *items, size_t *cap, size_t wanted, size_t item_bytes)
{
	size_t grown_cap = *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;
	void *grown;

	if (grown_cap < FIRST_CAP)
		grown_cap = FIRST_CAP;
	if (grown_cap < wanted)
		grown_cap = wanted;
	/* Use memcpy(): `items` may point to a pointer of any type, not only to a void *. */
	memcpy(&grown, items, sizeof(grown));
	grown = reallocarray(grown, grown_cap, item_bytes);
	if (!grown)
		return -ENOMEM;
	huge_pages_use(grown, grown_cap * item_bytes);
	memcpy(items, &grown, sizeof(grown));
	*cap = grown_cap;
	return 0;
}

void array_shift(void *items, size_t cnt, size_t at, size_t item_bytes)
{
	char *place = (char *)items + at * item_bytes;

	if (at < cnt)
		memmove(place + item_bytes, place, (cnt - at) * item_bytes);
}

void array_unshift(void *items, size_t *cnt, size_t at, size_t item_bytes)
{
	char *place = (char *)items + at * item_bytes;

	if (at < --*cnt)
		memmove(place, place + item_bytes, (*cnt - at) * item_bytes);
}
