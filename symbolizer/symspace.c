// SPDX-License-Identifier: GPL-2.0-or-later
/* Address spaces: addresses to locations. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/internal.h"
#include "symbolizer/naming.h"

int symspace__new(struct symbolizer *sym, pid_t pid, struct symspace **ret)
{
	struct symspace *space = calloc(1, sizeof(*space));
	int err;

	if (!space)
		return -ENOMEM;
	space->sym = sym;
	err = proc_image_init(pid, &space->image);
	if (err) {
		free(space);
		return err;
	}
	err = symspace__refresh(space);
	if (err) {
		symspace__free(space);
		return err;
	}
	*ret = space;
	return 0;
}

int symspace__new_ended(struct symbolizer *sym, const struct proc_maps *maps, struct symspace **ret)
{
	struct symspace *space = calloc(1, sizeof(*space));
	int err;

	if (!space)
		return -ENOMEM;
	space->sym = sym;
	proc_image_init_ended(&space->image);
	err = symspace__update(space, maps);
	if (err) {
		symspace__free(space);
		return err;
	}
	*ret = space;
	return 0;
}

int symspace__new_kernel_at(struct symbolizer *sym, const struct kernel_roots *roots,
			    struct symspace **ret)
{
	struct symspace *space = calloc(1, sizeof(*space));
	struct kernel_image *kernel = malloc(sizeof(*kernel));
	int err = space && kernel ? kernel_image_init(roots, kernel) : -ENOMEM;

	if (err) {
		free(space);
		free(kernel);
		return err;
	}
	space->sym = sym;
	space->kernel = kernel;
	*ret = space;
	return 0;
}

int symspace__new_kernel(struct symbolizer *sym, struct symspace **ret)
{
	return symspace__new_kernel_at(sym, &kernel_roots_host, ret);
}

int symspace__kernel_error(const struct symspace *space)
{
	return space->kernel ? space->kernel->error : 0;
}

int symspace__refresh(struct symspace *space)
{
	return space->kernel ? kernel_space_refresh(space) : process_space_refresh(space);
}

void symspace__free(struct symspace *space)
{
	if (!space)
		return;
	for (size_t i = 0; i < space->all_cnt; i++) {
		free(space->all[i]->own_symbol);
		free(space->all[i]->kernel_frames);
		free(space->all[i]);
	}
	free(space->all);
	addr_map_deinit(&space->locations);
	perf_map_deinit(&space->jit);
	regions_deinit(&space->regions);
	if (space->kernel)
		kernel_image_deinit(space->kernel);
	else
		proc_image_deinit(&space->image);
	free(space->kernel);
	free(space);
}

int symspace__add_location(struct symspace *space, const struct sym_query *query,
			   struct location **ret)
{
	struct location *loc;
	int err;

	if (space->all_cnt == space->all_cap) {
		size_t cap = space->all_cap ? space->all_cap * 2 : 256;
		struct location **all = reallocarray(space->all, cap, sizeof(*all));

		if (!all)
			return -ENOMEM;
		space->all = all;
		space->all_cap = cap;
	}
	loc = calloc(1, sizeof(*loc));
	if (!loc)
		return -ENOMEM;
	loc->pub.addr = query->addr;
	loc->pub.frames = &loc->own;
	loc->pub.frame_cnt = 1;
	loc->exact = query->exact;
	loc->since_ms = wire_now_ms();
	/* A return address is that of the next instruction, which may be another function's. */
	loc->pc = query->exact ? query->addr : query->addr - 1;
	err = addr_map_set(&space->locations, location_key(query), query->exact, loc);
	if (err) {
		free(loc);
		return err;
	}
	space->all[space->all_cnt++] = loc;
	*ret = loc;
	return 0;
}

/* The modules of some locations, each once, with what is to be named on their lists. */
static int collect(struct symspace *space, struct location **locs, size_t cnt,
		   struct module **modules, size_t *ret_cnt)
{
	size_t module_cnt = 0;
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++) {
		struct module *module = locs[i]->module;

		if (!locs[i]->name || !naming_is_open(module, locs[i]->name))
			continue;
		if (!module->todo_cnt)
			modules[module_cnt++] = module;
		err = module__want(module, locs[i]->name);
	}
	for (size_t i = 0; err && i < module_cnt; i++)
		module__want_nothing(modules[i]);
	*ret_cnt = module_cnt;
	return err;
}

/* Copies what the module knows by now to the location. */
static void publish(struct location *loc)
{
	const struct name *name = loc->name;

	if (loc->module)
		loc->pub.build_id = loc->module->build_id;
	if (!name || name->level == NAME_NONE)
		return;
	loc->pub.module_offset = name->vaddr + !loc->exact;
	loc->pub.frames = name->frames;
	loc->pub.frame_cnt = name->frame_cnt;
}

static int resolve(struct symspace *space, struct location **locs, size_t cnt, int64_t deadline_ms)
{
	struct symbolizer *sym = space->sym;
	struct module **modules = calloc(sym->module_cnt + 1, sizeof(*modules));
	size_t module_cnt;
	int err = -ENOMEM;

	while (!fetcher_take(&sym->fetcher, 0))
		;
	if (modules)
		err = collect(space, locs, cnt, modules, &module_cnt);
	if (!err)
		err = naming_run(&sym->parser, &sym->fetcher, modules, module_cnt,
				 space->kernel ? -1 : space->image.root_fd, deadline_ms);
	if (!err && !space->kernel)
		err = process_space_name_jits(space, locs, cnt, deadline_ms);
	free(modules);
	return err;
}

static int find_locations(struct symspace *space, const struct sym_query *queries, size_t cnt,
			  struct location **ret)
{
	int err = 0;

	if (space->kernel)
		return kernel_space_find(space, queries, cnt, ret);
	for (size_t i = 0; !err && i < cnt; i++)
		err = process_space_find(space, &queries[i], &ret[i]);
	return err;
}

int symspace__resolve(struct symspace *space, const struct sym_query *queries, size_t cnt,
		      unsigned int budget_ms, const struct sym_location **ret)
{
	int64_t deadline_ms = wire_now_ms() + budget_ms;
	struct location **locs = calloc(cnt + 1, sizeof(*locs));
	int err = locs ? find_locations(space, queries, cnt, locs) : -ENOMEM;

	if (!err)
		err = resolve(space, locs, cnt, deadline_ms);
	for (size_t i = 0; !err && i < cnt; i++) {
		if (space->kernel)
			err = kernel_space_publish(locs[i]);
		else
			publish(locs[i]);
		ret[i] = &locs[i]->pub;
	}
	free(locs);
	return err;
}
