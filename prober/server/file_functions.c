// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects, for each function found: its symbol, its return instructions and its probe place. */
#include "prober/server/file_functions.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "prober/server/function_places.h"
#include "prober/server/function_returns.h"

struct work {
	int fd;
	uint16_t machine;
	const struct wanted_functions *wanted;
	struct elf_functions symbols;
	struct file_functions *ret;
};

static int follow(struct work *work, struct code_file *code, size_t i)
{
	const struct elf_function *symbol = &work->symbols.items[i];
	const struct named_functions named = {
		.items = work->wanted->items,
		.cnt = work->wanted->through ? work->wanted->cnt : 0,
		.found = work->symbols.items,
		.found_cnt = work->wanted->through ? work->symbols.cnt : 0,
	};
	struct found_function *function = &work->ret->items[i];
	struct function_returns returns = {.verdict = FUNCTION_UNKNOWN};
	int err = function_returns_find(code, symbol, &named, &returns);

	if (err)
		return err == -ENOMEM ? err : 0;
	function->verdict = returns.verdict;
	function->through = returns.through;
	function->jumps_there = returns.jumps_there;
	function->returns = returns.offsets;
	function->return_cnt = returns.cnt;
	return 0;
}

static bool any_followed(const struct work *work)
{
	for (size_t i = 0; i < work->symbols.cnt; i++)
		if (work->wanted->items[work->symbols.items[i].name].followed)
			return true;
	return false;
}

static int find_returns(struct work *work)
{
	struct code_file code;
	int err;

	if (!any_followed(work))
		return 0;
	err = code_file_init(&code, work->fd);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; !err && i < work->symbols.cnt; i++)
		if (work->wanted->items[work->symbols.items[i].name].followed)
			err = follow(work, &code, i);
	code_file_deinit(&code);
	return err;
}

static int find_places(struct work *work)
{
	size_t cnt = work->symbols.cnt;
	cleanup_free unsigned int *argument_cnts = calloc(cnt + 1, sizeof(*argument_cnts));
	cleanup_free struct probe_place *places = calloc(cnt + 1, sizeof(*places));

	if (!argument_cnts || !places)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		argument_cnts[i] = work->wanted->items[work->symbols.items[i].name].argument_cnt;
	function_places_find(work->fd, work->machine, work->symbols.items, argument_cnts, cnt,
			     work->wanted->at_entry, places);
	for (size_t i = 0; i < cnt; i++)
		work->ret->items[i].place = places[i];
	return 0;
}

static void free_function(struct found_function *function)
{
	free(function->place.insn);
	free(function->returns);
}

/* Drops each function whose probes would bring the total number of probes above FILE_PROBES_MAX. */
static void limit(struct file_functions *functions)
{
	size_t kept = 0, probe_cnt = 0;

	for (size_t i = 0; i < functions->cnt; i++) {
		struct found_function *function = &functions->items[i];

		if (probe_cnt + 1 + function->return_cnt > FILE_PROBES_MAX) {
			free_function(function);
			functions->surplus_cnt++;
			continue;
		}
		probe_cnt += 1 + function->return_cnt;
		functions->items[kept++] = *function;
	}
	functions->cnt = kept;
}

static int find_all(struct work *work)
{
	struct file_functions *functions = work->ret;
	int err;

	functions->items = calloc(work->symbols.cnt + 1, sizeof(*functions->items));
	if (!functions->items)
		return -ENOMEM;
	functions->cnt = work->symbols.cnt;
	functions->surplus_cnt = work->symbols.surplus_cnt;
	functions->indirect = work->symbols.indirect;
	for (size_t i = 0; i < functions->cnt; i++)
		functions->items[i] = (struct found_function){
			.name = work->symbols.items[i].name,
			.offset = work->symbols.items[i].offset,
			.exported = work->symbols.items[i].exported,
			.verdict = FUNCTION_UNKNOWN,
		};
	err = find_returns(work);
	if (!err)
		err = find_places(work);
	limit(functions);
	return err;
}

int file_functions_init(int fd, uint16_t machine, const struct wanted_functions *wanted,
			struct file_functions *ret)
{
	struct file_functions functions = {0};
	struct work work = {.fd = fd, .machine = machine, .wanted = wanted, .ret = &functions};
	int err = elf_functions_find(fd, machine, wanted, &work.symbols);

	if (err)
		return err;
	err = find_all(&work);
	free(work.symbols.items);
	if (err)
		file_functions_deinit(&functions);
	else
		*ret = functions;
	return err;
}

void file_functions_deinit(struct file_functions *functions)
{
	for (size_t i = 0; i < functions->cnt; i++)
		free_function(&functions->items[i]);
	free(functions->items);
	*functions = (struct file_functions){0};
}
