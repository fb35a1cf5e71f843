// SPDX-License-Identifier: GPL-2.0-or-later
/* Address spaces: addresses to locations. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/internal.h"
#include "symbolizer/naming.h"

/* What is known of one address of a space. */
struct location {
	struct sym_location pub;
	uint64_t pc; /* the instruction that is looked up */
	bool exact;
	unsigned int generation; /* of the space when region was looked up */
	struct region *region;   /* NULL: nothing was there */
	struct name *name;       /* NULL: not in a file */
	struct sym_frame own;    /* the only frame while there is no name */
	char *own_symbol;        /* from a JIT map */
};

static int open_region(void *arg, struct region *region)
{
	struct symspace *space = arg;
	struct stat st;
	int fd = proc_image_open(&space->image, region, &st);

	if (fd == -ENOMEM)
		return fd;
	/* A file that cannot be opened costs names, and the frames say so. */
	if (fd < 0)
		return 0;
	return symbolizer__module(space->sym, fd, &st, region->path, &region->module);
}

int symspace__refresh(struct symspace *space)
{
	struct proc_maps maps;
	int err = proc_image_maps(&space->image, &maps);

	if (err)
		return err;
	err = regions_update(&space->regions, &maps, open_region, space);
	proc_maps_deinit(&maps);
	space->generation++;
	return err;
}

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

void symspace__free(struct symspace *space)
{
	if (!space)
		return;
	for (size_t i = 0; i < space->all_cnt; i++) {
		free(space->all[i]->own_symbol);
		free(space->all[i]);
	}
	free(space->all);
	addr_map_deinit(&space->locations);
	perf_map_deinit(&space->jit);
	regions_deinit(&space->regions);
	proc_image_deinit(&space->image);
	free(space);
}

static int add_location(struct symspace *space, const struct sym_query *query,
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
	/* A return address is that of the next instruction, which may be another function's. */
	loc->pc = query->exact ? query->addr : query->addr - 1;
	err = addr_map_set(&space->locations, query->addr, query->exact, loc);
	if (err) {
		free(loc);
		return err;
	}
	space->all[space->all_cnt++] = loc;
	*ret = loc;
	return 0;
}

/*
 * Code that a compiler made at run time has no file, or one that is no ELF file (memfd, shared
 * memory), or one that was deleted and could not be opened to see.
 */
static bool is_jit(const struct region *region)
{
	if (!region->executable || region->path[0] == '[')
		return region->executable && !strncmp(region->path, "[anon", 5);
	if (!region->inode)
		return true;
	return region->module ? !region->module->is_elf : region->deleted;
}

static const char *module_name(const struct region *region)
{
	if (is_jit(region) && !region->inode)
		return "[jit]";
	return *region->path ? region->path : "[anon]";
}

/* Puts a location where its address was mapped last. */
static int place(struct symspace *space, struct location *loc, struct region *region)
{
	loc->generation = space->generation;
	loc->region = region;
	if (!region)
		return 0;
	region->kept = true;
	loc->pub.module = module_name(region);
	loc->pub.module_offset = loc->pub.addr;
	if (!region->inode && !region->module)
		return 0;
	loc->pub.module_offset = loc->pub.addr - region->start + region->offset;
	if (!region->module)
		return 0;
	return module__name(region->module, loc->pc - region->start + region->offset, loc->exact,
			    &loc->name);
}

/* Whether region, where the address lies now, says the same of it as what was there before. */
static bool is_still_there(const struct location *loc, const struct region *region)
{
	if (!region || loc->region == region)
		return true;
	return loc->region && loc->region->module == region->module &&
	       loc->region->start - loc->region->offset == region->start - region->offset;
}

/*
 * The location of a query. One that was found earlier is replaced when something else has been
 * mapped there since; who holds the old one keeps it.
 */
static int find_location(struct symspace *space, const struct sym_query *query,
			 struct location **ret)
{
	struct location *loc = addr_map_get(&space->locations, query->addr, query->exact);
	struct region *region;
	int err;

	if (loc && loc->generation == space->generation) {
		*ret = loc;
		return 0;
	}
	region = regions_find(&space->regions, query->exact ? query->addr : query->addr - 1);
	if (loc && is_still_there(loc, region)) {
		*ret = loc;
		/* A file that could not be opened before may have been now. */
		if (!loc->name && region)
			return place(space, loc, region);
		loc->generation = space->generation;
		return 0;
	}
	err = add_location(space, query, &loc);
	if (!err)
		err = place(space, loc, region);
	*ret = loc;
	return err;
}

/* The modules of some locations, each once, with what is to be named on their lists. */
static int collect(struct symspace *space, struct location **locs, size_t cnt,
		   struct module **modules, size_t *ret_cnt)
{
	size_t module_cnt = 0;
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++) {
		struct module *module = locs[i]->region ? locs[i]->region->module : NULL;

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

	if (loc->region && loc->region->module)
		loc->pub.build_id = loc->region->module->build_id;
	if (!name || name->level == NAME_NONE)
		return;
	loc->pub.module_offset = name->vaddr + !loc->exact;
	loc->pub.frames = name->frames;
	loc->pub.frame_cnt = name->frame_cnt;
}

static int name_jit(struct symspace *space, struct location *loc)
{
	struct perf_symbol symbol;

	if (perf_map_find(&space->jit, loc->pc, &symbol))
		return 0;
	loc->own_symbol = strndup(symbol.name, symbol.name_len);
	if (!loc->own_symbol)
		return -ENOMEM;
	loc->own.symbol = loc->own_symbol;
	loc->own.offset = loc->pub.addr - symbol.start;
	return 0;
}

/* Names compiled code from the map that its compiler writes, which is read when it has grown. */
static int name_jits(struct symspace *space, struct location **locs, size_t cnt,
		     int64_t deadline_ms)
{
	const struct proc_image *image = &space->image;
	bool read = false, changed;

	for (size_t i = 0; i < cnt; i++) {
		struct location *loc = locs[i];
		int err;

		if (loc->own_symbol || !loc->region || !is_jit(loc->region) || image->root_fd < 0)
			continue;
		if (!read && wire_now_ms() < deadline_ms) {
			err = perf_map_read(&space->jit, image->root_fd, image->jit_path,
					    image->uid, &changed);
			if (err == -ENOMEM)
				return err;
			read = true;
		}
		err = name_jit(space, loc);
		if (err)
			return err;
	}
	return 0;
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
				 space->image.root_fd, deadline_ms);
	if (!err)
		err = name_jits(space, locs, cnt, deadline_ms);
	free(modules);
	return err;
}

int symspace__resolve(struct symspace *space, const struct sym_query *queries, size_t cnt,
		      unsigned int budget_ms, const struct sym_location **ret)
{
	int64_t deadline_ms = wire_now_ms() + budget_ms;
	struct location **locs = calloc(cnt + 1, sizeof(*locs));
	int err = locs ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < cnt; i++)
		err = find_location(space, &queries[i], &locs[i]);
	if (!err)
		err = resolve(space, locs, cnt, deadline_ms);
	for (size_t i = 0; !err && i < cnt; i++) {
		publish(locs[i]);
		ret[i] = &locs[i]->pub;
	}
	free(locs);
	return err;
}
