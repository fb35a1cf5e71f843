// SPDX-License-Identifier: GPL-2.0-or-later
/* A sorted array of the numbers of exec images. */
#include "loader/target/image_set.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"

static size_t index_of(const struct image_set *set, uint32_t image)
{
	return bisect_numbers(set->items, set->cnt, image);
}

bool image_set_has(const struct image_set *set, uint32_t image)
{
	size_t at = index_of(set, image);

	return at < set->cnt && set->items[at] == image;
}

int image_set_add(struct image_set *set, uint32_t image)
{
	size_t at = index_of(set, image);

	if (at < set->cnt && set->items[at] == image)
		return 0;
	if (array_reserve(&set->items, &set->cap, set->cnt + 1))
		return -ENOMEM;
	array_open(set->items, set->cnt, at);
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
