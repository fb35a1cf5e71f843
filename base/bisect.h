/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary search in arrays that are sorted in ascending order. */
#ifndef BASE_BISECT_H
#define BASE_BISECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The index of the first item for which is_below() is false, cnt if there is none: it is true of
 * a first part of the items and false of the rest.
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

/* By bisect_below() and its like, which know the key's place and size: 4 bytes or 8. */
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
 * How many of cnt items have a key, the field of that name, below the given one: the index of the
 * key if it is there.
 */
#define bisect_below(items, cnt, field, key)                                                       \
	bisect_keys((items), (cnt), sizeof(*(items)), offsetof(__typeof__(*(items)), field),       \
		    sizeof((items)->field), (key), false)

/* How many have a key that is at most the given one. */
#define bisect_upto(items, cnt, field, key)                                                        \
	bisect_keys((items), (cnt), sizeof(*(items)), offsetof(__typeof__(*(items)), field),       \
		    sizeof((items)->field), (key), true)

/* How many numbers of an array are below the given one. */
#define bisect_numbers(numbers, cnt, number)                                                       \
	bisect_keys((numbers), (cnt), sizeof(*(numbers)), 0, sizeof(*(numbers)), (number), false)

#endif
