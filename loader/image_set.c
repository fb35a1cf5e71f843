// SPDX-License-Identifier: GPL-2.0-or-later
/* Images in ascending order. */
#include "loader/image_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many are below the image. */
static size_t place_of(const struct image_set *set, uint32_t image)
{
	size_t low = 0, high = set->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->items[middle] < image)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool image_set_has(const struct image_set *set, uint32_t image)
{
	size_t at = place_of(set, image);

	return at < set->cnt && set->items[at] == image;
}

int image_set_add(struct image_set *set, uint32_t image)
{
	size_t at = place_of(set, image);

	if (at < set->cnt && set->items[at] == image)
		return 0;
	if (set->cnt == set->cap) {
		size_t cap = set->cap ? set->cap * 2 : 64;
		uint32_t *grown = reallocarray(set->items, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		set->items = grown;
		set->cap = cap;
	}
	memmove(&set->items[at + 1], &set->items[at], (set->cnt - at) * sizeof(*set->items));
	set->items[at] = image;
	set->cnt++;
	return 0;
}

void image_set_clear(struct image_set *set)
{
	set->cnt = 0;
}

void image_set_deinit(struct image_set *set)
{
	free(set->items);
	*set = (struct image_set){0};
}
