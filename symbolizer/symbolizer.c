// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks up addresses in the address spaces of processes and of the kernel. */
#include "symbolizer/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "symbolizer/naming.h"
#include "symbolizer/state.h"

/*
 * Time, in nanoseconds, for which a file stays open after it was last mapped: its program may soon
 * run again.
 */
#define UNMAPPED_NS 5000000000ULL

int symbolizer__new(struct symbolizer **ret)
{
	struct symbolizer *sym = calloc(1, sizeof(*sym));
	int err;

	if (!sym)
		return -ENOMEM;
	err = client_init(&sym->client);
	if (err) {
		free(sym);
		return err;
	}
	fetcher_init(&sym->fetcher);
	*ret = sym;
	return 0;
}

void symbolizer__free(struct symbolizer *sym)
{
	if (!sym)
		return;
	symbolizer__keep_spaces(sym, false);
	client_deinit(&sym->client);
	fetcher_deinit(&sym->fetcher);
	opened_modules_deinit(&sym->modules);
	free(sym);
}

void symbolizer__set_progress(struct symbolizer *sym, sym_progress_fn *on_progress)
{
	sym->client.on_progress = on_progress;
}

int symbolizer__add_file(struct symbolizer *sym, int fd, const char *path, uint32_t *ret)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), err;
	struct file_version version;
	struct module *module;
	struct stat st;

	if (own < 0)
		return -errno;
	if (fstat(own, &st)) {
		err = -errno;
		close(own);
		return err;
	}
	version = file_version_of(&st);
	err = opened_modules_get(&sym->modules, own, &version, path, &module);
	if (!err)
		*ret = module->id + 1;
	return err;
}

/* Adds an address space of a process, still without mappings. */
static struct symspace *new_space(struct symbolizer *sym)
{
	struct symspace *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->sym = sym;
	space->process.modules = &sym->modules;
	space->other = sym->spaces;
	sym->spaces = space;
	proc_files_init_ended(&space->process.image);
	return space;
}

int symspace__new(struct symbolizer *sym, pid_t pid, struct symspace **ret)
{
	struct symspace *space = new_space(sym);
	int err;

	if (!space)
		return -ENOMEM;
	err = proc_files_init(pid, &space->process.image);
	if (!err)
		err = process_space_refresh(&space->process);
	if (err && err != -EAGAIN) {
		symspace__free(space);
		return err;
	}
	*ret = space;
	return 0;
}

int symspace__new_ended(struct symbolizer *sym, const struct proc_maps *maps, struct symspace **ret)
{
	struct symspace *space = new_space(sym);
	int err;

	if (!space)
		return -ENOMEM;
	err = process_space_update(&space->process, maps);
	if (err) {
		symspace__free(space);
		return err;
	}
	*ret = space;
	return 0;
}

int symspace__new_forked(const struct symspace *parent, struct symspace **ret)
{
	struct symspace *space = new_space(parent->sym);
	int err;

	if (!space)
		return -ENOMEM;
	err = regions_copy(&parent->process.regions, &space->process.regions);
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
	struct kernel_space *kernel = calloc(1, sizeof(*kernel));
	int err = space && kernel ? kernel_symtab_init(roots, &kernel->image) : -ENOMEM;

	if (err) {
		free(space);
		free(kernel);
		return err;
	}
	kernel->modules = &sym->modules;
	space->sym = sym;
	space->kernel = kernel;
	*ret = space;
	return 0;
}

int symspace__new_kernel(struct symbolizer *sym, struct symspace **ret)
{
	return symspace__new_kernel_at(sym, &kernel_roots_host, ret);
}

static void forget_space(struct symspace *space)
{
	struct symspace **at = &space->sym->spaces;

	while (*at && *at != space)
		at = &(*at)->other;
	if (*at)
		*at = space->other;
}

static void free_space(struct symspace *space)
{
	forget_space(space);
	if (space->kernel)
		kernel_space_deinit(space->kernel);
	else
		process_space_deinit(&space->process);
	free(space->kernel);
	free(space);
}

void symspace__free(struct symspace *space)
{
	if (!space)
		return;
	if (!space->sym->keeps) {
		free_space(space);
		return;
	}
	space->next = space->sym->kept;
	space->sym->kept = space;
}

void symbolizer__keep_spaces(struct symbolizer *sym, bool keep)
{
	sym->keeps = keep;
	while (!keep && sym->kept) {
		struct symspace *space = sym->kept;

		sym->kept = space->next;
		free_space(space);
	}
}

static bool needs_open(const struct symbolizer *sym, const struct module *module)
{
	for (const struct symspace *space = sym->spaces; space; space = space->other)
		if (process_space_needs_open(&space->process, module))
			return true;
	return false;
}

static bool release(void *arg, struct module *module)
{
	struct symbolizer *sym = arg;

	return !module->fetching && module->offered_fd < 0 && !needs_open(sym, module) &&
	       client_close(&sym->client, module);
}

void symbolizer__close_unmapped(struct symbolizer *sym)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	/* Close nothing if a lookup may be in progress (see symbolizer__keep_spaces()). */
	if (sym->keeps)
		return;
	for (const struct symspace *space = sym->spaces; space; space = space->other)
		regions_note_mapped(&space->process.regions, now_ns);
	opened_modules_close_unmapped(&sym->modules, now_ns - UNMAPPED_NS, release, sym);
}

int symspace__kernel_error(const struct symspace *space)
{
	return space->kernel ? space->kernel->image.error : 0;
}

int symspace__refresh(struct symspace *space)
{
	return space->kernel ? kernel_space_refresh(space->kernel)
			     : process_space_refresh(&space->process);
}

int symspace__read_maps(struct symspace *space, struct proc_maps *ret)
{
	return proc_files_maps(&space->process.image, ret);
}

int symspace__update(struct symspace *space, const struct proc_maps *maps)
{
	return process_space_update(&space->process, maps);
}

uint32_t symspace__file(const struct symspace *space, uint64_t addr)
{
	const struct region *region = regions_find_live(&space->process.regions, addr);

	return region && region->module ? region->module->id + 1 : 0;
}

bool symspace__maps_system(const struct symspace *space, dev_t dev)
{
	const struct regions *regions = &space->process.regions;

	for (size_t i = 0; i < regions->live_cnt; i++) {
		const struct region *region = regions->live[i];

		if (region->module ? region->module->version.id.dev == dev
				   : region->file.ino && region->file.dev == dev)
			return true;
	}
	return false;
}

/*
 * Adds each name that another lookup may improve to the todo list of its module. Stores these
 * modules in `modules`, each once. Fails with -ENOMEM.
 */
static int collect(struct location **locs, size_t cnt, struct module **modules, size_t *ret_cnt)
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

/* Opens a closed file of a process again. Files of the kernel are never closed. */
static void reopen(void *arg, struct module *module)
{
	struct symspace *space = arg;

	if (!space->kernel)
		process_space_reopen(&space->process, module);
}

/* True if another lookup may improve the name of at least one location. */
static bool is_any_open(struct location *const *locs, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (locs[i]->name && naming_is_open(locs[i]->module, locs[i]->name))
			return true;
	return false;
}

/* Looks up the names of locations in their modules. */
static int search_modules(struct symspace *space, struct location **locs, size_t cnt,
			  uint64_t deadline_ns)
{
	struct symbolizer *sym = space->sym;
	const struct module_opener opener = {reopen, space};
	cleanup_free struct module **modules = calloc(sym->modules.cnt + 1, sizeof(*modules));
	const struct proc_files *image = &space->process.image;
	bool own_root = !space->kernel && !image->foreign;
	size_t module_cnt;
	int err = modules ? collect(locs, cnt, modules, &module_cnt) : -ENOMEM;

	return err ? err
		   : naming_run(&sym->client, &sym->fetcher, &opener, modules, module_cnt,
				own_root ? image->root_fd : -1, deadline_ns);
}

static int name_locations(struct symspace *space, struct location **locs, size_t cnt,
			  uint64_t deadline_ns)
{
	int err = 0;

	while (!fetcher_take(&space->sym->fetcher, 0))
		;
	/* In most calls, all names are known already. */
	if (is_any_open(locs, cnt))
		err = search_modules(space, locs, cnt, deadline_ns);
	if (!err && !space->kernel)
		err = process_space_name_jits(&space->process, locs, cnt, deadline_ns);
	return err;
}

static int find_locations(struct symspace *space, const struct sym_query *queries, size_t cnt,
			  struct location **ret)
{
	int err = 0;

	if (space->kernel)
		return kernel_space_find(space->kernel, queries, cnt, ret);
	for (size_t i = 0; !err && i < cnt; i++)
		err = process_space_find(&space->process, &queries[i], &ret[i]);
	return err;
}

int symspace__resolve(struct symspace *space, const struct sym_query *queries, size_t cnt,
		      uint64_t deadline_ns, const struct sym_location **ret)
{
	/* Avoid calloc() for a single query: reports make very many of them. */
	struct location *single = NULL;
	struct location **locs = cnt == 1 ? &single : calloc(cnt + 1, sizeof(*locs));
	int err = locs ? find_locations(space, queries, cnt, locs) : -ENOMEM;

	if (!err)
		err = name_locations(space, locs, cnt, deadline_ns);
	for (size_t i = 0; !err && i < cnt; i++) {
		if (space->kernel)
			err = kernel_space_publish(locs[i]);
		else
			process_space_publish(locs[i]);
		ret[i] = &locs[i]->pub;
	}
	if (locs != &single)
		free(locs);
	return err;
}
