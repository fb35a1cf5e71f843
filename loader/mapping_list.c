// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of a process's code. */
#include "loader/mapping_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int mapping_list_init(struct mapping_list *ret, size_t room)
{
	/* None at all would be no memory. */
	*ret = (struct mapping_list){
		.items = calloc(room + 1, sizeof(*ret->items)),
		.sources = calloc(room + 1, sizeof(*ret->sources)),
	};
	return ret->items && ret->sources ? 0 : -ENOMEM;
}

void mapping_list_deinit(struct mapping_list *list)
{
	free(list->items);
	free(list->sources);
	*list = (struct mapping_list){0};
}

static bool joins(const struct mapping_list *list, const struct mapping *mapping, ssize_t file)
{
	return list->cnt && file < 0 && list->sources[list->cnt - 1].file < 0 &&
	       list->items[list->cnt - 1].end == mapping->start;
}

void mapping_list_add(struct mapping_list *list, const struct mapping *mapping, ssize_t file)
{
	if (joins(list, mapping, file)) {
		list->items[list->cnt - 1].end = mapping->end;
		return;
	}
	list->items[list->cnt] = (struct unwind_mapping){
		.start = mapping->start,
		.end = mapping->end,
		.base = mapping->start - mapping->offset,
	};
	list->sources[list->cnt++] = (struct mapping_source){
		.dev_major = mapping->dev_major,
		.dev_minor = mapping->dev_minor,
		.inode = mapping->inode,
		.offset = mapping->offset,
		.file = file,
	};
}

static bool is_source(const struct mapping_source *source, const struct mapping *mapping)
{
	return source->inode == mapping->inode && source->offset == mapping->offset &&
	       source->dev_major == mapping->dev_major && source->dev_minor == mapping->dev_minor;
}

ssize_t mapping_list_file(const struct mapping_list *list, const struct mapping *mapping)
{
	size_t low = 0, high = list->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle].start < mapping->start)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == list->cnt || list->items[low].start != mapping->start ||
	    list->items[low].end != mapping->end)
		return -ENOENT;
	return is_source(&list->sources[low], mapping) ? list->sources[low].file : -ENOENT;
}

bool mapping_list_equal(const struct mapping_list *a, const struct mapping_list *b)
{
	return a->cnt == b->cnt && !memcmp(a->items, b->items, a->cnt * sizeof(*a->items));
}

void mapping_list_limit(struct mapping_list *list, size_t most)
{
	size_t with = 0, without_most, kept = 0, without = 0;

	if (list->cnt <= most)
		return;
	for (size_t i = 0; i < list->cnt; i++)
		with += list->items[i].granule_cnt != 0;
	without_most = with < most ? most - with : 0;
	for (size_t i = 0; i < list->cnt && kept < most; i++) {
		if (!list->items[i].granule_cnt && without++ >= without_most)
			continue;
		list->items[kept] = list->items[i];
		list->sources[kept++] = list->sources[i];
	}
	list->cnt = kept;
}
