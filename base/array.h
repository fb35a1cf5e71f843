/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growable arrays. Their pointer, count and capacity are fields of whoever owns one. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/*
 * Makes room for wanted items in all: array_reserve(&list->items, &list->cap, list->cnt + 1).
 * 0 or -ENOMEM, and then nothing has changed. New items hold no particular value.
 */
#define array_reserve(items, cap, wanted) array_room((items), (cap), (wanted), sizeof(**(items)))

/* items: address of the pointer to the first item, of whichever type. */
int array_grow(void *items, size_t *cap, size_t wanted, size_t item_bytes);

static inline int array_room(void *items, size_t *cap, size_t wanted, size_t item_bytes)
{
	return wanted <= *cap ? 0 : array_grow(items, cap, wanted, item_bytes);
}

/* Moves the items from index at on one further, in an array that has room for it. */
#define array_open(items, cnt, at) array_shift((items), (cnt), (at), sizeof(*(items)))
/* Takes the item at an index out; the others keep their order. *cnt becomes one less. */
#define array_remove(items, cnt, at) array_unshift((items), (cnt), (at), sizeof(*(items)))

void array_shift(void *items, size_t cnt, size_t at, size_t item_bytes);
void array_unshift(void *items, size_t *cnt, size_t at, size_t item_bytes);

#endif
