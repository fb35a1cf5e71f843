// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of the code mappings of a process. */
#include "loader/stacks/mapping_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

int mapping_list_init(struct mapping_list *ret, size_t room)
{
	/* Allocate one spare item, since calloc(0) may return NULL. */
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
		.id = mapping->file,
		.offset = mapping->offset,
		.file = file,
	};
}

static bool is_source(const struct mapping_source *source, const struct mapping *mapping)
{
	return file_id_equal(&source->id, &mapping->file) && source->offset == mapping->offset;
}

ssize_t mapping_list_file(const struct mapping_list *list, const struct mapping *mapping)
{
	size_t at;

	if (!list->cnt)
		return -ENOENT;
	at = bisect_below(list->items, list->cnt, start, mapping->start);
	if (at == list->cnt || list->items[at].start != mapping->start ||
	    list->items[at].end != mapping->end || !is_source(&list->sources[at], mapping))
		return -ENOENT;
	return list->sources[at].file;
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
