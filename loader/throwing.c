// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks for functions that an exception may leave, before anything is attached. */
#include "loader/throwing.h"

#include <stdlib.h>
#include <string.h>

#include "loader/allocators.h"
#include "loader/cleanup.h"
#include "loader/function_returns.h"
#include "loader/modules.h"

static bool module_throws(const struct module *module, const char *const *names)
{
	cleanup_free struct elf_function *found = NULL;
	struct named_functions named = {.names = names, .name_cnt = allocator_function_cnt};
	bool throws = false;

	if (elf_functions_find(module->fd, names, allocator_function_cnt, ELF_GLOBAL, &found,
			       &named.found_cnt))
		return false;
	named.found = found;
	for (size_t i = 0; i < named.found_cnt && !throws; i++) {
		struct function_returns returns = {.verdict = FUNCTION_UNKNOWN};

		if (allocator_functions[found[i].name].family != ALLOCATOR_THROWING ||
		    function_returns_find(module->fd, &found[i], &named, &returns))
			continue;
		throws = returns.verdict == FUNCTION_RETURNS;
		free(returns.offsets);
	}
	return throws;
}

static bool process_throws(pid_t pid, const char *const *names)
{
	struct module_list list;
	bool throws = false;

	if (module_list_init(pid, &list))
		return false;
	for (size_t i = 0; i < list.cnt && !throws; i++)
		throws = module_throws(&list.items[i], names);
	module_list_deinit(&list);
	return throws;
}

bool throwing_functions_wanted(const struct options *opts)
{
	cleanup_free const char **names = calloc(allocator_function_cnt, sizeof(*names));

	for (size_t i = 0; i < opts->pool_function_cnt; i++)
		if (!strncmp(opts->pool_functions[i].name, "_Z", 2))
			return true;
	for (size_t i = 0; names && i < allocator_function_cnt; i++)
		names[i] = allocator_functions[i].name;
	for (size_t i = 0; names && i < opts->pid_cnt; i++)
		if (process_throws(opts->pids[i], names))
			return true;
	return false;
}
