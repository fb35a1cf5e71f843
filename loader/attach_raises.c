// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes the functions by which exceptions leave others. */
#include <stdlib.h>

#include "loader/attach_state.h"
#include "loader/cleanup.h"

/* Exceptions begin there, whatever throws them. */
static void attach_raise(struct attach_state *state, const struct module *module,
			 enum elf_scope scope)
{
	static const char *const names[] = {"_Unwind_RaiseException"};
	cleanup_free struct elf_function *found = NULL;
	size_t cnt = 0;

	if (elf_functions_find(module->fd, names, 1, scope, &found, &cnt))
		return;
	for (size_t i = 0; i < cnt; i++) {
		struct probe probe = {
			.function = names[0],
			.shape = MEMLEAK_SHAPE_RAISE,
			.offset = found[i].offset,
		};
		const struct probe_place place = {0};

		probe_set_attach(state->probes, &state->ctx->programs, state->bound, module->fd,
				 &probe, 1);
		say_attached(state, module, &probe, &place);
	}
}

void attach_raises(struct attach_state *state, const struct module_list *list)
{
	struct probe_pool *pool = state->ctx->pool;

	for (size_t i = 0; i < list->cnt; i++) {
		const struct module *module = &list->items[i];
		struct pool_file *known = pool ? probe_pool_find(pool, module->fd) : NULL;

		if (known && known->raises_known)
			continue;
		attach_raise(state, module, i ? ELF_EXPORTED : ELF_GLOBAL);
		if (known)
			known->raises_known = true;
	}
}
