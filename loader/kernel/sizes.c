// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements a table of sizes as an array that is sorted by name. */
#include "loader/kernel/sizes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Growths below GROWN_LEAST bytes, or below 1/GROWN_PART of the largest, are left out. */
#define GROWN_LEAST (64U << 10)
#define GROWN_PART 100

int named_sizes_add(struct named_sizes *sizes, const char *name, uint64_t bytes)
{
	char *copy = strdup(name);

	if (!copy || array_reserve(&sizes->items, &sizes->cap, sizes->cnt + 1)) {
		free(copy);
		return -ENOMEM;
	}
	sizes->items[sizes->cnt++] = (struct named_size){copy, bytes};
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct named_size *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void named_sizes_sort(struct named_sizes *sizes)
{
	size_t cnt = 0;

	if (sizes->cnt)
		qsort(sizes->items, sizes->cnt, sizeof(*sizes->items), by_name);
	for (size_t i = 0; i < sizes->cnt; i++) {
		if (cnt && !by_name(&sizes->items[cnt - 1], &sizes->items[i])) {
			sizes->items[cnt - 1].bytes += sizes->items[i].bytes;
			free(sizes->items[i].name);
		} else {
			sizes->items[cnt++] = sizes->items[i];
		}
	}
	sizes->cnt = cnt;
}

void named_sizes_deinit(struct named_sizes *sizes)
{
	for (size_t i = 0; i < sizes->cnt; i++)
		free(sizes->items[i].name);
	free(sizes->items);
	*sizes = (struct named_sizes){0};
}

/* Inserts a growth into a sorted list; drops the smallest if it is full. Returns the new length. */
static size_t insert(struct kernel_growth *growths, size_t cnt, const struct named_size *size,
		     uint64_t grown_bytes)
{
	size_t at = cnt;

	while (at && growths[at - 1].grown_bytes < grown_bytes)
		at--;
	if (at == KERNEL_GROWTHS_MAX)
		return cnt;
	if (cnt == KERNEL_GROWTHS_MAX)
		cnt--;
	array_open(growths, cnt, at);
	growths[at] = (struct kernel_growth){
		.name = size->name, .bytes = size->bytes, .grown_bytes = grown_bytes};
	return cnt + 1;
}

size_t named_sizes_grown(const struct named_sizes *before, const struct named_sizes *now,
			 struct kernel_growth ret[KERNEL_GROWTHS_MAX])
{
	size_t cnt = 0, at = 0;

	for (size_t i = 0; before->cnt && i < now->cnt; i++) {
		const struct named_size *size = &now->items[i];
		uint64_t was = 0;

		while (at < before->cnt && by_name(&before->items[at], size) < 0)
			at++;
		if (at < before->cnt && !by_name(&before->items[at], size))
			was = before->items[at].bytes;
		if (size->bytes >= was + GROWN_LEAST)
			cnt = insert(ret, cnt, size, size->bytes - was);
	}
	while (cnt && ret[cnt - 1].grown_bytes < ret[0].grown_bytes / GROWN_PART)
		cnt--;
	return cnt;
}
