// SPDX-License-Identifier: GPL-2.0-or-later
/* Which functions of a file are probed, and where. */
#include "loader/probes/probe_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "loader/probes/function_places.h"

struct choice {
	int fd;
	bool entries;
	const struct allocator_function *functions;
	const struct named_functions *named;
	struct elf_function *kept; /* those of the chosen that are probed */
	size_t kept_cnt;
	struct probe_list *list;
};

static const struct allocator_function *allocator_of(const struct choice *choice,
						     const struct elf_function *function)
{
	return &choice->functions[function->name];
}

static int add_probe(struct probe_list *list, const struct probe *probe)
{
	if (array_reserve(&list->items, &list->cap, list->cnt + 1) ||
	    array_reserve(&list->places, &list->place_cap, list->cnt + 1))
		return -ENOMEM;
	list->items[list->cnt] = *probe;
	list->places[list->cnt++] = (struct probe_place){0};
	return 0;
}

static int leave(struct choice *choice, const struct elf_function *function,
		 const struct function_returns *returns)
{
	struct probe_list *list = choice->list;

	if (array_reserve(&list->left, &list->left_cap, list->left_cnt + 1))
		return -ENOMEM;
	list->left[list->left_cnt++] = (struct left_function){allocator_of(choice, function)->name,
							      returns->verdict, returns->through};
	return 0;
}

static int keep(struct choice *choice, const struct elf_function *function,
		const struct function_returns *returns)
{
	choice->kept[choice->kept_cnt++] = *function;
	for (size_t i = 0; i < returns->cnt; i++) {
		const struct probe probe = {
			.function = allocator_of(choice, function)->name,
			.shape = MEMLEAK_SHAPE_RETURN,
			.offset = returns->offsets[i],
		};

		if (add_probe(choice->list, &probe))
			return -ENOMEM;
	}
	return 0;
}

/*
 * What an operator does by another function needs no probe of its own. That a delete may be one
 * does no harm: its argument need not be what it frees, so it is left only if it is.
 */
static bool needs_probe(const struct choice *choice, const struct allocator_function *function,
			const struct function_returns *returns)
{
	if (function->family == ALLOCATOR_THROWING && !choice->entries)
		return returns->verdict == FUNCTION_RETURNS;
	if (function->shape == MEMLEAK_SHAPE_FREE)
		return !returns->jumps_there;
	return returns->verdict != FUNCTION_THROUGH;
}

static int choose(struct choice *choice, const struct elf_function *function)
{
	const struct allocator_function *allocator = allocator_of(choice, function);
	struct function_returns returns = {.verdict = FUNCTION_UNKNOWN};
	int err = 0;

	if (allocator_is_operator(allocator))
		err = function_returns_find(choice->fd, function, choice->named, &returns);
	if (err == -ENOMEM)
		return err;
	if (allocator_is_operator(allocator) && !needs_probe(choice, allocator, &returns)) {
		err = leave(choice, function, &returns);
	} else {
		if (allocator->family != ALLOCATOR_THROWING || choice->entries)
			returns.cnt = 0;
		err = keep(choice, function, &returns);
	}
	free(returns.offsets);
	return err;
}

static int place_entries(struct choice *choice)
{
	cleanup_free unsigned int *argument_cnts =
		calloc(choice->kept_cnt + 1, sizeof(*argument_cnts));
	cleanup_free struct probe_place *places = calloc(choice->kept_cnt + 1, sizeof(*places));
	struct probe_list *list = choice->list;

	if (!argument_cnts || !places)
		return -ENOMEM;
	for (size_t i = 0; i < choice->kept_cnt; i++)
		argument_cnts[i] =
			shape_argument_cnt(allocator_of(choice, &choice->kept[i])->shape);
	function_places_find(choice->fd, choice->kept, argument_cnts, choice->kept_cnt, places);
	for (size_t i = 0; i < choice->kept_cnt; i++) {
		const struct allocator_function *function = allocator_of(choice, &choice->kept[i]);
		bool throws = function->family == ALLOCATOR_THROWING && !choice->entries;
		const struct probe probe = {
			.function = function->name,
			.shape = function->shape,
			.offset = choice->kept[i].offset + places[i].offset,
			.at_return = !throws && !choice->entries && shape_returns(function->shape),
			.throws = throws,
		};

		if (add_probe(list, &probe)) {
			function_places_deinit(places + i, choice->kept_cnt - i);
			return -ENOMEM;
		}
		list->places[list->cnt - 1] = places[i];
		list->throws |= throws;
	}
	return 0;
}

int probe_list_init(int fd, const struct allocator_function *functions,
		    const struct named_functions *named, const struct elf_function *chosen,
		    size_t cnt, bool entries, struct probe_list *ret)
{
	cleanup_free struct elf_function *kept = calloc(cnt + 1, sizeof(*kept));
	struct choice choice = {
		.fd = fd,
		.entries = entries,
		.functions = functions,
		.named = named,
		.kept = kept,
		.list = ret,
	};

	*ret = (struct probe_list){0};
	if (!kept)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		int err = choose(&choice, &chosen[i]);

		if (err)
			return err;
	}
	return place_entries(&choice);
}

void probe_list_deinit(struct probe_list *list)
{
	function_places_deinit(list->places, list->cnt);
	free(list->places);
	free(list->items);
	free(list->left);
}
