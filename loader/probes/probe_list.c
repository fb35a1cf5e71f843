// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the functions of a file to probe, and the instructions for their probes. */
#include "loader/probes/probe_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

struct choice {
	bool entries;
	const struct allocator_function *functions;
	const struct wanted_functions *wanted;
	struct probe_list *list;
};

static const struct allocator_function *allocator_of(const struct choice *choice,
						     const struct found_function *function)
{
	return &choice->functions[function->name];
}

static int add_probe(struct probe_list *list, const struct probe *probe,
		     const struct probe_place *place)
{
	if (array_reserve(&list->items, &list->cap, list->cnt + 1) ||
	    array_reserve(&list->places, &list->place_cap, list->cnt + 1))
		return -ENOMEM;
	list->items[list->cnt] = *probe;
	list->places[list->cnt++] = *place;
	return 0;
}

static int skip(struct choice *choice, const struct found_function *function)
{
	struct probe_list *list = choice->list;

	if (array_reserve(&list->skipped, &list->skipped_cap, list->skipped_cnt + 1))
		return -ENOMEM;
	list->skipped[list->skipped_cnt++] = (struct skipped_function){
		.name = allocator_of(choice, function)->name,
		.verdict = function->verdict,
		.through = function->verdict == FUNCTION_THROUGH
				   ? choice->wanted->items[function->through].name
				   : NULL,
	};
	return 0;
}

static int add_returns(struct choice *choice, const struct found_function *function)
{
	const struct probe_place place = {0};

	for (size_t i = 0; i < function->return_cnt; i++) {
		const struct probe probe = {
			.function = allocator_of(choice, function)->name,
			.shape = MEMLEAK_SHAPE_RETURN,
			.offset = function->returns[i],
		};

		if (add_probe(choice->list, &probe, &place))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Returns false for two kinds of operators. The first are operators that leave all of their work to
 * a probed function; but an operator delete that calls this function instead of jumping to it needs
 * a probe, as it may pass a different address. The second are operators that may throw, if their
 * returns are to be probed but were not all found.
 */
static bool needs_probe(const struct choice *choice, const struct found_function *function)
{
	const struct allocator_function *allocator = allocator_of(choice, function);

	if (!allocator_is_operator(allocator))
		return true;
	if (allocator->family == ALLOCATOR_THROWING && !choice->entries)
		return function->verdict == FUNCTION_RETURNS;
	if (allocator->shape == MEMLEAK_SHAPE_FREE)
		return !function->jumps_there;
	return function->verdict != FUNCTION_THROUGH;
}

static bool throws(const struct choice *choice, const struct found_function *function)
{
	return allocator_of(choice, function)->family == ALLOCATOR_THROWING && !choice->entries;
}

static int choose(struct choice *choice, const struct found_function *function)
{
	if (!needs_probe(choice, function))
		return skip(choice, function);
	return throws(choice, function) ? add_returns(choice, function) : 0;
}

static int add_entry(struct choice *choice, const struct found_function *function)
{
	const struct allocator_function *allocator = allocator_of(choice, function);
	const struct probe probe = {
		.function = allocator->name,
		.shape = allocator->shape,
		.offset = function->offset + function->place.offset,
		.at_return = !throws(choice, function) && !choice->entries &&
			     shape_returns(allocator->shape),
		.throws = throws(choice, function),
	};

	choice->list->throws |= probe.throws;
	return add_probe(choice->list, &probe, &function->place);
}

int probe_list_init(const struct allocator_function *functions,
		    const struct wanted_functions *wanted, const struct found_function *chosen,
		    size_t cnt, bool entries, struct probe_list *ret)
{
	struct choice choice = {
		.entries = entries,
		.functions = functions,
		.wanted = wanted,
		.list = ret,
	};
	int err = 0;

	*ret = (struct probe_list){0};
	for (size_t i = 0; !err && i < cnt; i++)
		err = choose(&choice, &chosen[i]);
	for (size_t i = 0; !err && i < cnt; i++)
		if (needs_probe(&choice, &chosen[i]))
			err = add_entry(&choice, &chosen[i]);
	return err;
}

void probe_list_deinit(struct probe_list *list)
{
	free(list->places);
	free(list->items);
	free(list->skipped);
}
