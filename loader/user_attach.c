// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses and places the probes of a process: for each allocator function its first definition
 * in the dynamic loader's lookup order. A definition that its module keeps to itself (a static
 * allocator in the program) serves that module only, so the search goes on after it.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "bpf/memleak.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/allocators.h"
#include "loader/cleanup.h"
#include "loader/elf_functions.h"
#include "loader/function_places.h"
#include "loader/log.h"
#include "loader/modules.h"
#include "loader/user_process.h"

struct search_names {
	char **names;  /* what each function is called in this process */
	bool *settled; /* its exported definition was found */
};

/* Which functions of a module count: with -O the heap is elsewhere than the mappings. */
enum module_part { PART_ALL, PART_HEAP, PART_MAPS };

struct attach_state {
	const struct user_context *ctx;
	struct user_process *process;
	struct search_names names;
	size_t heap_found;
	size_t placed; /* probes that were not there before */
	int err;       /* the first failure */
};

static void search_names_deinit(struct search_names *names)
{
	for (size_t i = 0; names->names && i < allocator_function_cnt; i++)
		free(names->names[i]);
	free(names->names);
	free(names->settled);
}

static int search_names_init(struct search_names *names, const char *prefix)
{
	names->names = calloc(allocator_function_cnt, sizeof(*names->names));
	names->settled = calloc(allocator_function_cnt, sizeof(*names->settled));
	if (!names->names || !names->settled)
		return -ENOMEM;
	for (size_t i = 0; i < allocator_function_cnt; i++) {
		const struct allocator_function *function = &allocator_functions[i];

		if (asprintf(&names->names[i], "%s%s",
			     shape_maps(function->shape) || !prefix ? "" : prefix,
			     function->name) < 0) {
			names->names[i] = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

/* Where a probe is and what it costs: columns, one line for each. */
static void say_placed(pid_t pid, const struct module *module, const struct probe *probe,
		       const struct probe_place *place)
{
	const char *cost = place->emulated ? "emulated: " : "stepped: ";

	log_verbose("pid %d: %s at %s+0x%llx, entry+%llu %s%s", pid, probe->function, module->path,
		    (unsigned long long)probe->offset, (unsigned long long)place->offset,
		    place->insn ? cost : "", place->insn ? place->insn : "");
}

static void say_attached(const struct attach_state *state, const struct module *module,
			 const struct probe *probe, const struct probe_place *place)
{
	pid_t pid = state->process->info.pid;

	if (!probe->err)
		say_placed(pid, module, probe, place);
	else if (probe->err == -EEXIST)
		log_verbose("pid %d: %s at %s+0x%llx is probed already", pid, probe->function,
			    module->path, (unsigned long long)probe->offset);
	else if (probe->err != -ESRCH)
		log_note("cannot probe %s in %s: %s", probe->function, module->path,
			 strerror(-probe->err));
}

/* The probes of one module's functions, in order, and where exactly they are. */
struct probe_list {
	struct probe *items;
	struct probe_place *places;
	size_t cnt;
};

static void probe_list_deinit(struct probe_list *list)
{
	function_places_deinit(list->places, list->cnt);
	free(list->places);
	free(list->items);
}

static void attach_probes(struct attach_state *state, const struct module *module,
			  struct probe_list *list)
{
	int err = probe_set_attach(&state->process->probes, &state->ctx->programs,
				   state->process->info.pid, module->fd, list->items, list->cnt);

	if (!state->err)
		state->err = err;
	for (size_t i = 0; i < list->cnt; i++) {
		const struct probe *probe = &list->items[i];

		say_attached(state, module, probe, &list->places[i]);
		state->placed += !probe->err;
		if ((probe->err && probe->err != -EEXIST) || shape_maps(probe->shape))
			continue;
		if (!state->heap_found++ && !state->process->allocator)
			state->process->allocator = strdup(module->path);
	}
}

/* Whether a function is looked for in modules of this kind at all. */
static bool wanted(const struct attach_state *state, size_t function, enum module_part part)
{
	bool maps = shape_maps(allocator_functions[function].shape);

	return !state->names.settled[function] && (part == PART_ALL || maps == (part == PART_MAPS));
}

/* Those of the found functions that are wanted, in the table's order: inner functions are last. */
static size_t choose_functions(struct attach_state *state, enum module_part part,
			       const struct elf_function *found, size_t cnt,
			       struct elf_function *ret)
{
	size_t chosen = 0;

	for (size_t i = 0; i < allocator_function_cnt; i++) {
		if (!wanted(state, i, part))
			continue;
		for (size_t j = 0; j < cnt; j++) {
			if (found[j].name != i)
				continue;
			ret[chosen++] = found[j];
			state->names.settled[i] |= found[j].exported;
		}
	}
	return chosen;
}

/* One probe for each function, at the best place in it. */
static int place_probes(int fd, const struct elf_function *functions, size_t cnt,
			struct probe_list *ret)
{
	cleanup_free unsigned int *argument_cnts = calloc(cnt + 1, sizeof(*argument_cnts));

	*ret = (struct probe_list){.cnt = cnt};
	ret->items = calloc(cnt + 1, sizeof(*ret->items));
	ret->places = calloc(cnt + 1, sizeof(*ret->places));
	if (!argument_cnts || !ret->items || !ret->places)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		argument_cnts[i] = shape_argument_cnt(allocator_functions[functions[i].name].shape);
	function_places_find(fd, functions, argument_cnts, cnt, ret->places);
	for (size_t i = 0; i < cnt; i++) {
		const struct allocator_function *function = &allocator_functions[functions[i].name];

		ret->items[i] = (struct probe){
			.function = function->name,
			.shape = function->shape,
			.offset = functions[i].offset + ret->places[i].offset,
			.at_return = shape_returns(function->shape),
		};
	}
	return 0;
}

/* All functions of one module that no module before it has defined. */
static void attach_module(struct attach_state *state, const struct module *module,
			  bool exported_only, enum module_part part)
{
	cleanup_free struct elf_function *found = NULL, *chosen = NULL;
	struct search_names *names = &state->names;
	struct probe_list list;
	size_t cnt = 0;

	if (elf_functions_find(module->fd, (const char *const *)names->names,
			       allocator_function_cnt, exported_only, &found, &cnt))
		return;
	chosen = calloc(cnt + 1, sizeof(*chosen));
	if (!chosen)
		return;
	cnt = choose_functions(state, part, found, cnt, chosen);
	if (place_probes(module->fd, chosen, cnt, &list) == 0)
		attach_probes(state, module, &list);
	probe_list_deinit(&list);
}

/* The file that -O names, as the process sees it or as we do. */
static int open_object(pid_t pid, const char *object, struct module *ret)
{
	cleanup_free char *inside = NULL;
	struct stat st;

	if (asprintf(&inside, "/proc/%d/root/%s", pid, object) < 0)
		return -ENOMEM;
	ret->fd = open(inside, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (ret->fd < 0)
		ret->fd = open(object, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (ret->fd < 0)
		return -errno;
	if (fstat(ret->fd, &st) || !S_ISREG(st.st_mode) || elf_class(ret->fd) < 0) {
		close(ret->fd);
		return -ENOEXEC;
	}
	ret->path = (char *)object;
	return 0;
}

static int attach_object(struct attach_state *state)
{
	const char *object = state->ctx->opts->object;
	struct module module;
	int err = open_object(state->process->info.pid, object, &module);

	if (err) {
		log_error("cannot read %s: %s", object,
			  err == -ENOEXEC ? "not an ELF file" : strerror(-err));
		return err;
	}
	attach_module(state, &module, false, PART_HEAP);
	close(module.fd);
	return 0;
}

static void attach_all(struct attach_state *state, const struct module_list *list)
{
	enum module_part part = state->ctx->opts->object ? PART_MAPS : PART_ALL;
	struct probe hook = {
		.function = "the dynamic loader's hook",
		.shape = MEMLEAK_SHAPE_LIBRARIES,
		.offset = list->hook_offset,
	};

	for (size_t i = 0; i < list->cnt; i++)
		attach_module(state, &list->items[i], i != 0, part);
	if (list->hook_module >= 0)
		probe_set_attach(&state->process->probes, &state->ctx->programs,
				 state->process->info.pid, list->items[list->hook_module].fd, &hook,
				 1);
}

static int attach_result(const struct attach_state *state)
{
	const struct options *opts = state->ctx->opts;
	pid_t pid = state->process->info.pid;

	if (state->heap_found)
		return 0;
	if (state->err == -ESRCH) {
		log_error("process %d ended while it was being attached", pid);
		return -ESRCH;
	}
	if (state->err) {
		log_error("no probe could be placed in process %d: %s", pid, strerror(-state->err));
		return state->err;
	}
	log_error("%s defines no %smalloc nor any other allocator function: -O PATH names the file "
		  "that does, -S PREFIX what its functions begin with",
		  opts->object ? opts->object : "no file that the process maps",
		  opts->symbols_prefix ? opts->symbols_prefix : "");
	return -ENOENT;
}

/* What tells that libraries go, and which do not. */
static void note_loader(struct user_process *process, const struct module_list *list)
{
	struct file_identity *permanent =
		reallocarray(process->permanent, list->permanent_cnt + 1, sizeof(*permanent));

	process->r_debug = list->r_debug;
	process->permanent_cnt = 0;
	if (!permanent)
		return;
	process->permanent = permanent;
	process->permanent_cnt = list->permanent_cnt;
	for (size_t i = 0; i < list->permanent_cnt; i++)
		permanent[i] = (struct file_identity){list->items[i].dev, list->items[i].ino};
}

int user_process__attach(const struct user_context *ctx, struct user_process *process)
{
	struct attach_state state = {.ctx = ctx, .process = process};
	struct module_list list;
	int err = search_names_init(&state.names, ctx->opts->symbols_prefix);

	if (!err && ctx->opts->object)
		err = attach_object(&state);
	if (err)
		goto out;
	err = module_list_init(process->info.pid, &list);
	if (err) {
		log_error("cannot read the libraries of process %d: %s", process->info.pid,
			  strerror(-err));
		goto out;
	}
	attach_all(&state, &list);
	process->attached = list.settled;
	note_loader(process, &list);
	module_list_deinit(&list);
	err = process->attached ? attach_result(&state) : -EAGAIN;
	if (process->after_exec && state.placed)
		process->exec_gaps++; /* another allocator than the last program's */
	if (process->attached)
		process->after_exec = false;
out:
	search_names_deinit(&state.names);
	return err;
}
