// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes the functions that --alloc and --free name. */
#include <stdlib.h>
#include <string.h>

#include "loader/attach_state.h"
#include "loader/cleanup.h"
#include "loader/log.h"

/* Exceptions leave what is written in C++; what C calls they do not, as a rule. */
static enum allocator_family family_of(const struct pool_function *pool)
{
	bool frees = pool->shape == MEMLEAK_SHAPE_FREE || pool->shape == MEMLEAK_SHAPE_HEAP_FREE;

	return !frees && !strncmp(pool->name, "_Z", 2) ? ALLOCATOR_THROWING : ALLOCATOR_OWN;
}

void attach_pools(struct attach_state *state, const struct module *module)
{
	const struct options *opts = state->ctx->opts;
	size_t pool_cnt = opts->pool_function_cnt, cnt = 0;
	cleanup_free struct allocator_function *functions =
		calloc(pool_cnt + 1, sizeof(*functions));
	cleanup_free const char **names = calloc(pool_cnt + 1, sizeof(*names));
	cleanup_free struct elf_function *found = NULL;
	const struct named_functions through_none = {0};
	struct probe_list list;

	if (!pool_cnt || !functions || !names)
		return;
	for (size_t i = 0; i < pool_cnt; i++) {
		const struct pool_function *pool = &opts->pool_functions[i];

		names[i] = pool->name;
		functions[i] =
			(struct allocator_function){pool->name, pool->shape, family_of(pool)};
	}
	if (elf_functions_find(module->fd, names, pool_cnt, ELF_ALL, &found, &cnt))
		return;
	if (probe_list_init(module->fd, functions, &through_none, found, cnt, opts->count_by,
			    &list) == 0) {
		for (size_t i = 0; i < list.left_cnt; i++)
			say_left(state, module, &list.left[i]);
		attach_probes(state, module, &list);
	}
	probe_list_deinit(&list);
}

static bool is_probed(const struct probe_set *set, const struct pool_function *pool)
{
	for (size_t i = 0; i < set->cnt; i++)
		if (set->items[i].function == pool->name)
			return true;
	return false;
}

void note_missing_pools(const struct attach_state *state)
{
	const struct options *opts = state->ctx->opts;

	for (size_t i = 0; i < opts->pool_function_cnt; i++)
		if (!is_probed(state->probes, &opts->pool_functions[i]))
			log_note("%s is not probed: process %d has no such function yet",
				 opts->pool_functions[i].name, state->process->info.pid);
}
