// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the region that contains an address, and looks up the names of JIT code. */
#include "symbolizer/process_space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/regular_file.h"

/* Returns the module of the region's file if it is already open; otherwise NULL. */
static struct module *find_open(const struct process_space *space, const struct region *region)
{
	struct file_version vdso;
	struct module *module;

	if (strcmp(region->path, "[vdso]") != 0)
		return opened_modules_find_mapped(space->modules, &region->file, region->since_ns);
	vdso = proc_image_vdso(region);
	module = opened_modules_find(space->modules, &vdso);
	return module && module->fd >= 0 ? module : NULL;
}

static int open_region(void *arg, struct region *region)
{
	struct process_space *space = arg;
	struct file_version version;
	int fd;

	region->module = find_open(space, region);
	if (region->module) {
		region->module->used = ++space->modules->uses;
		return 0;
	}
	fd = proc_files_open(&space->image, region, &version);
	if (fd == -ENOMEM)
		return fd;
	/* Go on without the file: its addresses get no names, and sym_location.unread is set. */
	if (fd < 0)
		return 0;
	return opened_modules_get(space->modules, fd, &version, region->path, &region->module);
}

int process_space_update(struct process_space *space, const struct proc_maps *maps)
{
	int err = regions_update(&space->regions, maps, open_region, space);

	proc_files_read_program(&space->image);
	space->locations.generation++;
	return err;
}

int process_space_refresh(struct process_space *space)
{
	struct proc_maps maps;
	int err = proc_files_maps(&space->image, &maps);

	if (err)
		return err;
	err = process_space_update(space, &maps);
	proc_maps_deinit(&maps);
	return err;
}

/*
 * True if the region may contain JIT code: it is executable, and maps no file, a file that is not
 * ELF (a memfd or shared memory), or a deleted file that could not be opened. False for "[vdso]"
 * and the like.
 */
static bool is_jit(const struct region *region)
{
	if (!region->executable || region->path[0] == '[')
		return region->executable && !strncmp(region->path, "[anon", 5);
	if (!region->file.ino)
		return true;
	return region->module ? !region->module->is_elf : region->deleted;
}

static const char *module_name(const struct region *region)
{
	if (is_jit(region) && !region->file.ino)
		return "[jit]";
	return *region->path ? region->path : "[anon]";
}

/*
 * Sets the location's module and, for the program's file, the other name by which it was started.
 */
static void set_module(const struct process_space *space, struct location *loc, const char *module)
{
	const struct program_name *program = &space->image.program;

	loc->pub.module = module;
	loc->pub.known_as = program->name && !strcmp(program->path, module) ? program->name : NULL;
}

static struct sym_mapping mapping_of(const struct region *region)
{
	return (struct sym_mapping){region->start, region->end, region->offset};
}

/* Fills in a location whose address is in `region` (present or former; NULL if unknown). */
static int place(struct process_space *space, struct location *loc, struct region *region)
{
	loc->generation = space->locations.generation;
	loc->region = region;
	if (!region)
		return 0;
	region->kept = true;
	set_module(space, loc, module_name(region));
	loc->pub.module_offset = loc->pub.addr;
	loc->pub.unread = region->file.ino && !region->module;
	if (!region->file.ino && !region->module)
		return 0;
	loc->pub.mapping = mapping_of(region);
	loc->pub.module_offset = loc->pub.addr - region->start + region->offset;
	if (!region->module)
		return 0;
	loc->module = region->module;
	return module__name(region->module, loc->pc - region->start + region->offset, loc->exact,
			    &loc->name);
}

/*
 * True if the location is still right: `region` is NULL, or maps the address to the same offset of
 * the same file as before.
 */
static bool is_still_there(const struct location *loc, const struct region *region)
{
	if (!region || loc->region == region)
		return true;
	return loc->region && loc->region->module == region->module &&
	       loc->region->start - loc->region->offset == region->start - region->offset;
}

/*
 * Fills in a location for a query by file offset. The name is looked up even if no region maps the
 * file. If a region maps the offset, the location gets its address there.
 */
static int place_in_file(struct process_space *space, const struct sym_query *query,
			 struct module *module, struct location *loc)
{
	uint64_t offset = query->addr - !query->exact;
	struct region *region = regions_find_place(&space->regions, module, offset);

	loc->generation = space->locations.generation;
	loc->region = region;
	loc->module = module;
	loc->pub.addr = 0;
	set_module(space, loc, module->path);
	if (!loc->name)
		loc->pub.module_offset = query->addr;
	if (region) {
		region->kept = true;
		loc->pub.addr = query->addr - region->offset + region->start;
		set_module(space, loc, module_name(region));
		loc->pub.mapping = mapping_of(region);
		loc->pc = loc->pub.addr - !query->exact;
	}
	return module__name(module, offset, query->exact, &loc->name);
}

static int find_in_file(struct process_space *space, const struct sym_query *query,
			struct location **ret)
{
	struct location *loc = locations_get(&space->locations, query);
	int err = 0;

	if (!loc)
		err = locations_add(&space->locations, query, &loc);
	if (!err && (!loc->module || loc->generation != space->locations.generation))
		err = place_in_file(space, query, space->modules->items[query->file - 1], loc);
	*ret = loc;
	return err;
}

static int find_address(struct process_space *space, const struct sym_query *query,
			struct location **ret)
{
	struct location *loc = locations_get(&space->locations, query);
	struct region *region;
	int err;

	if (loc && loc->generation == space->locations.generation) {
		*ret = loc;
		return 0;
	}
	region = regions_find(&space->regions, query->exact ? query->addr : query->addr - 1);
	if (loc && is_still_there(loc, region)) {
		*ret = loc;
		/* Fill in again: at the first query, the file may not have been open. */
		if (!loc->name && region)
			return place(space, loc, region);
		loc->generation = space->locations.generation;
		return 0;
	}
	err = locations_add(&space->locations, query, &loc);
	if (!err)
		err = place(space, loc, region);
	*ret = loc;
	return err;
}

/*
 * Fills in the location of a variable. A global variable is looked up by its distance from the code
 * of its file, a thread-local variable by its distance from the thread pointer.
 */
static int place_variable(struct process_space *space, const struct sym_query *query,
			  struct region *region, struct location *loc)
{
	struct region *code = region ? regions_find_code(&space->regions, region) : NULL;
	uint64_t offset = query->distance;

	loc->generation = space->locations.generation;
	loc->region = region;
	loc->code = code;
	if (!region)
		return 0;
	region->kept = true;
	loc->pub.addr = query->addr;
	loc->pub.module_offset = query->addr;
	set_module(space, loc, module_name(region));
	if (region->file.ino)
		loc->pub.mapping = mapping_of(region);
	if (!code)
		return 0;
	code->kept = true;
	loc->module = code->module;
	if (query->kind == SYM_DATA)
		offset = query->addr - code->start + code->offset;
	return module__variable(code->module, query->kind == SYM_DATA ? NAME_OF_DATA : NAME_OF_TLS,
				offset, code->offset, &loc->name);
}

static int find_variable(struct process_space *space, const struct sym_query *query,
			 struct location **ret)
{
	struct location *loc = locations_get(&space->locations, query);
	struct region *region;
	int err = 0;

	if (loc && loc->generation == space->locations.generation && loc->pc == query->addr) {
		*ret = loc;
		return 0;
	}
	region = regions_find_live(&space->regions, query->addr);
	if (!loc || loc->region != region || loc->pc != query->addr)
		err = locations_add(&space->locations, query, &loc);
	if (!err)
		err = place_variable(space, query, region, loc);
	*ret = loc;
	return err;
}

int process_space_find(struct process_space *space, const struct sym_query *query,
		       struct location **ret)
{
	if (query->kind != SYM_CODE)
		return find_variable(space, query, ret);
	if (query->file && query->file <= space->modules->cnt)
		return find_in_file(space, query, ret);
	return find_address(space, query, ret);
}

static int name_jit(struct process_space *space, struct location *loc)
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

int process_space_name_jits(struct process_space *space, struct location **locs, size_t cnt,
			    uint64_t deadline_ns)
{
	const struct proc_files *image = &space->image;
	bool read = false, changed;

	for (size_t i = 0; i < cnt; i++) {
		struct location *loc = locs[i];
		int err;

		if (loc->own_symbol || loc->kind != SYM_CODE || !loc->region ||
		    !is_jit(loc->region) || image->root_fd < 0)
			continue;
		if (!read && clock_left_ms(deadline_ns)) {
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

void process_space_publish(struct location *loc)
{
	const struct name *name = loc->name;

	/*
	 * If the address is in no segment of the file, or was not looked up, keep the region's
	 * name, such as "[heap]", as the module.
	 */
	if (loc->code && (!name || !name->vaddr))
		return;
	if (loc->code)
		loc->pub.module = module_name(loc->code);
	if (loc->module)
		loc->pub.build_id = loc->module->build_id;
	if (!name || name->level == NAME_NONE)
		return;
	loc->pub.module_offset = name->vaddr + !loc->exact;
	loc->pub.lines_follow = loc->module && name->level < loc->module->max_level;
	loc->pub.frames = name->frames;
	loc->pub.frame_cnt = name->frame_cnt;
}

/*
 * Opens the module's path in memleak's own root. Used if the file cannot be opened through a
 * mapping of the process. Returns an fd or a negative errno.
 */
static int open_by_path(const struct module *module, struct file_version *ret)
{
	struct stat st;
	int fd = regular_file_open_known(-1, module->path, LINKS_ALL, &st);

	if (fd >= 0)
		*ret = file_version_of(&st);
	return fd;
}

/*
 * Opens the module's file through `region` (may be NULL), which maps or has mapped it, or else by
 * its path. Returns an fd or a negative errno: -ENOENT if another file was found.
 */
static int open_again(const struct process_space *space, const struct region *region,
		      const struct module *module)
{
	struct file_version version;
	int fd = region ? proc_files_open(&space->image, region, &version) : -ENOENT;

	if (fd < 0 && module->path[0] == '/')
		fd = open_by_path(module, &version);
	if (fd < 0)
		return fd;
	if (file_version_equal(&version, &module->version))
		return fd;
	close(fd);
	return -ENOENT;
}

void process_space_reopen(struct process_space *space, struct module *module)
{
	int fd = open_again(space, regions_find_module(&space->regions, module), module);

	if (fd >= 0)
		opened_modules_reopen(space->modules, module, fd);
}

bool process_space_needs_open(const struct process_space *space, const struct module *module)
{
	const struct region *region = regions_find_module(&space->regions, module);
	cleanup_close int fd = region ? open_again(space, region, module) : -1;

	return region && fd < 0;
}

void process_space_deinit(struct process_space *space)
{
	locations_deinit(&space->locations);
	perf_map_deinit(&space->jit);
	regions_deinit(&space->regions);
	proc_files_deinit(&space->image);
}
