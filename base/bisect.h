/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary search in arrays sorted in ascending order. */
#ifndef BASE_BISECT_H
#define BASE_BISECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Returns the index of the first item for which is_below() is false, or cnt if there is none.
 * is_below() must be true for all items before that index and false for all later items.
 */
static inline size_t bisect(size_t cnt, bool (*is_below)(const void *arg, size_t at),
			    const void *arg)
{
	size_t low = 0, high = cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_below(arg, middle))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Implements bisect_below(), bisect_upto() and bisect_numbers(). key_at, key_bytes: offset and size
 * (4 or 8 bytes) of the field that is compared with `key`.
 */
static inline size_t bisect_keys(const void *items, size_t cnt, size_t item_bytes, size_t key_at,
				 size_t key_bytes, uint64_t key, bool upto)
{
	size_t low = 0, high = cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *at = (const char *)items + middle * item_bytes + key_at;
		uint64_t found;
		uint32_t small;

		if (key_bytes == sizeof(found)) {
			memcpy(&found, at, sizeof(found));
		} else {
			memcpy(&small, at, sizeof(small));
			found = small;
		}
		if (found < key || (upto && found == key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Returns the number of items whose `field` is below key. This number is also the index of the
 * first item with this key, if there is one.
 */
#define bisect_below(items, cnt, field, key)                                                       \
	bisect_keys((items), (cnt), sizeof(*(items)), offsetof(__typeof__(*(items)), field),       \
		    sizeof((items)->field), (key), false)

/* Returns the number of items whose `field` is at most key. */
#define bisect_upto(items, cnt, field, key)                                                        \
	bisect_keys((items), (cnt), sizeof(*(items)), offsetof(__typeof__(*(items)), field),       \
		    sizeof((items)->field), (key), true)

/* Returns how many of the numbers in an array are below `number`. */
#define bisect_numbers(numbers, cnt, number)                                                       \
	bisect_keys((numbers), (cnt), sizeof(*(numbers)), 0, sizeof(*(numbers)), (number), false)

#endif
