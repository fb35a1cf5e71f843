/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growable arrays. The pointer, count and capacity are fields of the caller's struct. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/*
 * Makes room for a total of `wanted` items, for example: array_reserve(&list->items, &list->cap,
 * list->cnt + 1). Returns 0, or -ENOMEM without any change. New items are uninitialised.
 */
#define array_reserve(items, cap, wanted) array_room((items), (cap), (wanted), sizeof(**(items)))

/* Implements array_reserve(). items: address of the pointer to the first item, of any type. */
int array_grow(void *items, size_t *cap, size_t wanted, size_t item_bytes);

static inline int array_room(void *items, size_t *cap, size_t wanted, size_t item_bytes)
{
	return wanted <= *cap ? 0 : array_grow(items, cap, wanted, item_bytes);
}

/*
 * Shifts the item at index `at`, and all items after it, by one place towards the end. The array
 * must have room for one more item.
 */
#define array_open(items, cnt, at) array_shift((items), (cnt), (at), sizeof(*(items)))
/* Removes the item at an index, keeps the order of the remaining items, and decrements *cnt. */
#define array_remove(items, cnt, at) array_unshift((items), (cnt), (at), sizeof(*(items)))

void array_shift(void *items, size_t cnt, size_t at, size_t item_bytes);
void array_unshift(void *items, size_t *cnt, size_t at, size_t item_bytes);

#endif
