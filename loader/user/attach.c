// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses and places the probes of a process. Probes every definition of an allocator function, in
 * the dynamic loader's lookup order. Most code of the process calls the first definition, but
 * libraries opened with RTLD_DEEPBIND or dlmopen() may call another definition.
 */
#include "loader/user/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/proc.h"
#include "base/regular_file.h"
#include "base/signals.h"
#include "base/test_knobs.h"
#include "loader/probes/allocators.h"
#include "loader/probes/backing_inode.h"
#include "loader/target/arch.h"
#include "loader/target/elf_class.h"
#include "loader/user/attach_state.h"
#include "prober/prober.h"

/* Maximum time, in nanoseconds, to search for a similar name if a function does not exist. */
#define NEAREST_NS 1000000000ULL

/*
 * Functions to probe in a module. With -O, heap functions are probed only in the given file, and
 * mapping functions in all mapped files.
 */
enum module_part { PART_ALL, PART_HEAP, PART_MAPS };

/* True if the function is to be probed. part: the functions to probe in its module. */
static bool wanted(const struct attach_state *state, size_t function, enum module_part part)
{
	bool maps = shape_maps(allocator_functions[function].shape);

	if (maps && state->ctx->entries_only)
		return false;
	return part == PART_ALL || maps == (part == PART_MAPS);
}

/*
 * Returns NULL if the module's definition of a function is to be probed, else the path of the file
 * whose definition is probed instead.
 *
 * Normally every definition is probed. If size filters or sampling leave out calls, only the first
 * definition is probed: a call that is left out does not mark its thread as inside an allocator, so
 * a nested call of another allocator would be counted by mistake. Exceptions: a file loaded by name
 * (dlopen) may call its own definition, and shared probes serve processes with different first
 * definitions.
 */
static const char *first_file(struct attach_state *state, const struct module *module,
			      const struct found_function *function)
{
	const char **first = &state->names.first[function->name];

	if (!function->exported)
		return NULL;
	if (!*first)
		*first = module->path;
	return *first != module->path && !state->later && options_leave_out_calls(state->ctx->opts)
		       ? *first
		       : NULL;
}

/*
 * Stores in `ret` the functions of a module that are to be probed, and returns their number. The
 * order is that of allocator_functions, which lists mapping functions last.
 */
static size_t choose_functions(struct attach_state *state, const struct module *module,
			       enum module_part part, const struct file_functions *found,
			       struct found_function *ret)
{
	const char *first = NULL;
	size_t chosen = 0;

	for (size_t i = 0; i < allocator_function_cnt; i++) {
		if (!wanted(state, i, part))
			continue;
		for (size_t j = 0; j < found->cnt; j++) {
			const char *other = NULL;

			if (found->items[j].name != i)
				continue;
			other = first_file(state, module, &found->items[j]);
			first = other ?: first;
			if (!other)
				ret[chosen++] = found->items[j];
		}
	}
	if (first)
		log_not_first(state, module, first);
	return chosen;
}

/* Logs that the search of a file failed, if the file itself may be the cause. */
static void log_failed(struct attach_state *state, const struct module *module, int err)
{
	if (err != -EIO && err != -ETIMEDOUT && err != -EPROTO)
		return;
	state->missed = true;
	log_note("%s is not searched for allocator functions: %s", module->path,
		 err == -ETIMEDOUT ? "reading it takes too long" : "reading it crashed the helper");
}

static void log_too_late(const struct attach_state *state)
{
	log_note("process %d: searching its files takes too long; the remaining files are not "
		 "probed",
		 state->process->info.pid);
}

/* Records that a file was not searched or probed for lack of memory. */
static void note_no_memory(struct attach_state *state)
{
	state->missed = true;
	if (!state->err)
		state->err = -ENOMEM;
}

/*
 * Searches a file for functions. Returns 0 even if the file has none of them; -EAGAIN if the search
 * is postponed; or another negative errno.
 */
static int search_file(struct attach_state *state, const struct module *module,
		       const struct wanted_functions *wanted, struct file_functions *ret)
{
	uint64_t left_ns = state->patience_ns - state->taken_ns;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (state->err == -EINTR)
		return -EINTR;
	if (state->is_budget_spent || state->is_cooling_down) {
		state->postponed = true;
		return -EAGAIN;
	}
	if (state->taken_ns >= state->patience_ns) {
		if (!state->too_late)
			log_too_late(state);
		state->too_late = state->missed = true;
		state->err = state->err ?: -ETIMEDOUT;
		return -ETIMEDOUT;
	}
	err = prober_functions(module->fd, arch_elf_machine, wanted,
			       begin_ns + (left_ns < state->file_ns ? left_ns : state->file_ns),
			       ret);
	state->taken_ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
	state->too_late |= err == -ETIMEDOUT || err == -EINTR;
	state->missed |= state->too_late;
	if (err == -ENOMEM)
		note_no_memory(state);
	else if (state->too_late && !state->err)
		state->err = err;
	if (err)
		log_failed(state, module, err);
	if (!err && ret->indirect)
		log_note("%s chooses %s at run time (IFUNC): such functions are not probed",
			 module->path, wanted->items[ret->indirect - 1].name);
	if (!err && ret->surplus_cnt)
		log_note("%s has too many definitions of allocator functions: %llu of them %s not "
			 "probed",
			 module->path, (unsigned long long)ret->surplus_cnt,
			 ret->surplus_cnt == 1 ? "is" : "are");
	return err;
}

static void attach_functions(struct attach_state *state, const struct module *module,
			     const struct allocator_function *functions,
			     const struct wanted_functions *wanted,
			     const struct found_function *chosen, size_t cnt)
{
	struct probe_list list;
	int err = probe_list_init(functions, wanted, chosen, cnt, state->ctx->entries_only, &list);

	if (err && !state->err)
		state->err = err;
	if (!err) {
		for (size_t i = 0; i < list.skipped_cnt; i++)
			log_skipped(state, module, &list.skipped[i]);
		attach_probes(state, module, &list);
	}
	probe_list_deinit(&list);
}

static struct wanted_function wanted_of(const struct allocator_function *function, const char *name)
{
	return (struct wanted_function){
		.name = name,
		.argument_cnt = shape_argument_cnt(function->shape),
		.everywhere = function->family == ALLOCATOR_OWN,
		.followed = allocator_is_operator(function),
	};
}

static bool probes_at_entry(void)
{
	const char *forced = test_knob(TEST_KNOB_PLACE);

	return forced && !strcmp(forced, "entry");
}

/*
 * Probes all allocator functions of one module. These include functions with names that only one
 * allocator uses, because a program may contain its allocator, as programs written in Rust do.
 */
static void attach_module(struct attach_state *state, const struct module *module,
			  enum function_scope scope, enum module_part part)
{
	cleanup_free struct wanted_function *items = calloc(allocator_function_cnt, sizeof(*items));
	const struct wanted_functions wanted = {
		.items = items,
		.cnt = allocator_function_cnt,
		.scope = scope,
		.through = true,
		.at_entry = probes_at_entry(),
	};
	cleanup_free struct found_function *chosen = NULL;
	struct file_functions found;

	if (!items) {
		note_no_memory(state);
		return;
	}
	for (size_t i = 0; i < wanted.cnt; i++)
		items[i] = wanted_of(&allocator_functions[i], state->names.names[i]);
	if (search_file(state, module, &wanted, &found))
		return;
	chosen = calloc(found.cnt + 1, sizeof(*chosen));
	if (chosen)
		attach_functions(state, module, allocator_functions, &wanted, chosen,
				 choose_functions(state, module, part, &found, chosen));
	else
		note_no_memory(state);
	file_functions_deinit(&found);
}

/*
 * Returns the family of a function given by --alloc or --free: ALLOCATOR_THROWING for a C++
 * function that allocates, otherwise ALLOCATOR_OWN. Exceptions normally do not pass through C
 * functions.
 */
static enum allocator_family family_of(const struct custom_function *custom)
{
	bool frees =
		custom->shape == MEMLEAK_SHAPE_FREE || custom->shape == MEMLEAK_SHAPE_HEAP_FREE;

	return !frees && !strncmp(custom->name, "_Z", 2) ? ALLOCATOR_THROWING : ALLOCATOR_OWN;
}

static void attach_custom(struct attach_state *state, const struct module *module)
{
	const struct options *opts = state->ctx->opts;
	size_t custom_cnt = opts->custom_function_cnt;
	cleanup_free struct allocator_function *functions =
		calloc(custom_cnt + 1, sizeof(*functions));
	cleanup_free struct wanted_function *items = calloc(custom_cnt + 1, sizeof(*items));
	const struct wanted_functions wanted = {
		.items = items,
		.cnt = custom_cnt,
		.scope = SCOPE_ALL,
		.at_entry = probes_at_entry(),
	};
	struct file_functions found;

	if (!functions || !items)
		note_no_memory(state);
	if (!custom_cnt || !functions || !items)
		return;
	for (size_t i = 0; i < custom_cnt; i++) {
		const struct custom_function *custom = &opts->custom_functions[i];

		functions[i] =
			(struct allocator_function){custom->name, custom->shape, family_of(custom)};
		items[i] = wanted_of(&functions[i], custom->name);
	}
	if (search_file(state, module, &wanted, &found))
		return;
	attach_functions(state, module, functions, &wanted, found.items, found.cnt);
	file_functions_deinit(&found);
}

/*
 * Probes functions of a file, beginning with those given by --alloc and --free: they call allocator
 * functions, and outer functions must be probed first (see allocator_functions).
 */
static void search_module(struct attach_state *state, const struct module *module,
			  enum function_scope scope)
{
	attach_custom(state, module);
	attach_module(state, module, scope, state->ctx->opts->object ? PART_MAPS : PART_ALL);
}

/* Probes the functions of a file once for all processes that map it. */
static void attach_once(struct attach_state *state, const struct module *module,
			enum function_scope scope)
{
	const struct probed_file *known = shared_probes_find(state->ctx->shared, module->fd);
	size_t found_before = state->heap_found;
	int err;

	if (known) {
		state->process->throws |= known->throws;
		if (!known->has_heap)
			return;
		state->deferred |= known->since_ns > state->process->since_ns;
		if (!state->heap_found++ && !state->process->allocator)
			state->process->allocator = strdup(module->path);
		return;
	}
	state->later = true;
	search_module(state, module, scope);
	/*
	 * Do not add the file to the shared probes if its search was not completed, so that it is
	 * searched again when another process maps it.
	 */
	if (state->err == -ENOMEM || state->too_late || state->postponed)
		return;
	err = shared_probes_add(state->ctx->shared, module->fd, state->heap_found != found_before);
	if (!state->err)
		state->err = err;
}

/* Logs, once per process, that a file is unreadable and its allocator functions are not probed. */
static void log_unread(struct attach_state *state, const struct module_list *list)
{
	struct user_process *process = state->process;

	if (!process->logged_unread)
		(process->found ? log_verbose : log_note)(
			"process %d: %s is not searched for allocator functions, and its own "
			"functions have no names: %s",
			process->info.pid, list->unread,
			list->unread_err == -EREMOTE ? "another process serves it (FUSE)"
						     : strerror(-list->unread_err));
	state->missed |= !process->logged_unread;
	process->logged_unread = true;
}

/* Opens the file given by -O, first in the process's root directory, then in memleak's. */
static int open_object(pid_t pid, const char *object, struct module *ret)
{
	cleanup_close int root_fd = proc_open(pid, "root", O_PATH | O_DIRECTORY);
	struct stat st;

	ret->fd = root_fd < 0 ? root_fd : regular_file_open(-1, root_fd, object, LINKS_ALL, &st);
	if (ret->fd < 0)
		ret->fd = regular_file_open(AT_FDCWD, -1, object, LINKS_ALL, &st);
	if (ret->fd < 0)
		return ret->fd;
	if (elf_class(ret->fd) < 0) {
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
	attach_module(state, &module, SCOPE_GLOBAL, PART_HEAP);
	close(module.fd);
	return 0;
}

/*
 * Probes _Unwind_RaiseException(), which raises all exceptions. A module may contain its own copy.
 */
static void attach_raise(struct attach_state *state, const struct module *module)
{
	static const struct wanted_function raise = {.name = "_Unwind_RaiseException"};
	static const struct wanted_functions wanted = {
		.items = &raise,
		.cnt = 1,
		.scope = SCOPE_ALL,
		.at_entry = true,
	};
	struct file_functions found;

	if (search_file(state, module, &wanted, &found))
		return;
	for (size_t i = 0; i < found.cnt; i++) {
		struct probe probe = {
			.function = raise.name,
			.shape = MEMLEAK_SHAPE_RAISE,
			.offset = found.items[i].offset,
		};
		const struct probe_place place = {0};

		probe_set_attach(state->probes, &state->ctx->programs, state->bound, module->fd,
				 &probe, 1);
		log_attached(state, module, &probe, &place);
	}
	file_functions_deinit(&found);
}

static bool was_searched(const struct user_process *process, const struct module *module)
{
	for (size_t i = 0; i < process->searched_cnt; i++)
		if (file_id_equal(&process->searched[i], &module->id))
			return true;
	return false;
}

/*
 * If a probed function may throw exceptions, probes what raises them, also in files that are loaded
 * later.
 */
static void attach_raises(struct attach_state *state, const struct module_list *list)
{
	const struct user_process *process = state->process;
	struct shared_probes *shared = state->ctx->shared;

	for (size_t i = 0; process->throws && i < list->cnt; i++) {
		const struct module *module = &list->items[i];
		struct probed_file *known = shared ? shared_probes_find(shared, module->fd) : NULL;

		if ((known && known->raises_known) ||
		    (!shared && process->raises_known && was_searched(process, module)))
			continue;
		attach_raise(state, module);
		if (known && !state->postponed)
			known->raises_known = true;
	}
}

/*
 * Returns the module to search for the dynamic loader's hook: the one that the process states, or a
 * static program, which may contain the functions of a dynamic loader. Returns NULL if there is
 * none, or if its hook is already probed.
 */
static const struct module *hook_module(const struct attach_state *state,
					const struct module_list *list)
{
	const struct module *module = &list->items[list->hook_module < 0 ? 0 : list->hook_module];

	if (list->hook_module >= 0)
		return probe_set_has(state->probes, module->fd, list->hook_offset,
				     MEMLEAK_SHAPE_LIBRARIES)
			       ? NULL
			       : module;
	if (!list->is_static || !list->permanent_cnt)
		return NULL;
	return state->ctx->shared && shared_probes_find(state->ctx->shared, module->fd) ? NULL
											: module;
}

/*
 * Probes the dynamic loader's hook, if the file has this function where the process states it.
 * Otherwise, a hostile process could have any byte of a shared file changed, for example in the
 * middle of an instruction of the C library, in all processes. Returns 0 or a negative errno:
 * -EAGAIN if postponed, -ENOENT if the file has no such function.
 */
static int probe_hook(struct attach_state *state, const struct module *module,
		      const struct module_list *list)
{
	static const struct wanted_function name = {.name = LOADER_HOOK};
	static const struct wanted_functions wanted = {
		.items = &name,
		.cnt = 1,
		.scope = SCOPE_ALL,
		.at_entry = true,
	};
	struct probe hook = {
		.function = "the dynamic loader's hook",
		.shape = MEMLEAK_SHAPE_LIBRARIES,
	};
	struct file_functions found;
	int err = search_file(state, module, &wanted, &found);
	size_t i = 0;

	if (err)
		return err;
	while (i < found.cnt && list->hook_module >= 0 &&
	       found.items[i].offset != list->hook_offset)
		i++;
	err = i < found.cnt ? 0 : -ENOENT;
	if (!err) {
		hook.offset = found.items[i].offset;
		err = probe_set_attach(state->probes, &state->ctx->programs, state->bound,
				       module->fd, &hook, 1);
		state->hooked |= !err && !hook.err;
	}
	file_functions_deinit(&found);
	return err;
}

/*
 * Probes the hook before files are searched: the search may use up the time, and libraries may be
 * loaded meanwhile. Logs an error, because libraries that are loaded later will not be noticed.
 */
static void attach_hook(struct attach_state *state, const struct module_list *list)
{
	const struct module *module = hook_module(state, list);
	int err = module ? probe_hook(state, module, list) : 0;

	if (!err || err == -EAGAIN || err == -EINTR || err == -ESRCH || !list->is_consistent ||
	    (err == -ENOENT && list->is_static))
		return;
	(state->process->found ? log_verbose : log_note)(
		"process %d: libraries that it loads later are not noticed, because " LOADER_HOOK
		" in %s cannot be probed: %s",
		state->process->info.pid, module->path,
		err == -ENOENT ? "it is not where the process states it" : strerror(-err));
}

/*
 * Probes the function with which the process's Python frees code objects. Without this probe, the
 * BPF programs must compare the code objects of each stack with those that they know. Only a probe
 * that is bound to the process is sure to fire for each of its calls.
 */
static void attach_free_code(struct attach_state *state, const struct module_list *list)
{
	const struct user_context *ctx = state->ctx;
	uint32_t image = state->process->info.image;
	struct probe probe = {
		.function = "the function that frees code objects",
		.shape = MEMLEAK_SHAPE_CODE,
	};
	const struct probe_place place = {0};
	size_t number = 0;

	probe.offset = scripts_free_code(&ctx->unwind->scripts, image, &number);
	if (!probe.offset || !state->bound || !probe_programs_bound(&ctx->programs) ||
	    ctx->entries_only || ctx->opts->fds || list->moved_cnt)
		return;
	for (size_t i = 0; i < list->cnt; i++) {
		const struct module *module = &list->items[i];

		if (!file_id_equal(&module->id, &ctx->unwind->files.items[number].version.id))
			continue;
		if (!probe_set_attach(state->probes, &ctx->programs, state->bound, module->fd,
				      &probe, 1) &&
		    probe_set_has(state->probes, module->fd, probe.offset, probe.shape))
			scripts_count_frees(&ctx->unwind->scripts, image);
		log_attached(state, module, &probe, &place);
		return;
	}
}

static void attach_all(struct attach_state *state, const struct module_list *list)
{
	attach_hook(state, list);
	for (size_t i = 0; i < list->cnt && !state->ctx->opts->fds; i++) {
		enum function_scope scope = i ? SCOPE_EXPORTED : SCOPE_GLOBAL;

		state->later = list->hook_module >= 0 && i >= list->permanent_cnt;
		if (state->ctx->shared)
			attach_once(state, &list->items[i], scope);
		else
			search_module(state, &list->items[i], scope);
	}
	attach_raises(state, list);
	attach_free_code(state, list);
}

/*
 * Returns the number of probed heap functions in `part`, code that was moved to anonymous memory.
 */
static size_t probed_in(const struct probe_set *set, const struct file_id *file,
			const struct moved_code *part)
{
	size_t cnt = 0;

	for (size_t i = 0; i < set->cnt; i++) {
		const struct probe *probe = &set->items[i];

		cnt += shape_is_of_heap(probe->shape) && file_id_equal(&probe->file, file) &&
		       probe->offset >= part->start && probe->offset < part->end;
	}
	return cnt;
}

static void log_moved_code(struct attach_state *state, const struct module *module, size_t cnt)
{
	struct user_process *process = state->process;

	if (!process->logged_moved)
		(process->found ? log_verbose : log_note)(
			"process %d runs code of %s in anonymous memory (as programs arrange for "
			"huge pages), where no probes can be placed: calls of %zu allocator "
			"function%s there are not seen",
			process->info.pid, module->path, cnt, cnt == 1 ? "" : "s");
	state->missed |= !process->logged_moved;
	process->logged_moved = true;
}

/*
 * Counts and logs probed functions whose code was moved to anonymous memory: probes are set in
 * files, so they never fire there.
 */
static void check_moved(struct attach_state *state, const struct module_list *list)
{
	for (size_t i = 0; i < list->moved_cnt; i++) {
		const struct moved_code *moved = &list->moved[i];
		const struct module *module = &list->items[moved->module];
		struct file_id file;
		size_t cnt = 0;

		if (!backing_inode(module->fd, &file))
			cnt = probed_in(state->probes, &file, moved);
		state->moved_cnt += cnt;
		if (cnt)
			log_moved_code(state, module, cnt);
	}
}

/* True if the code of all probed heap functions was moved to memory where probes do not fire. */
static bool is_out_of_reach(const struct attach_state *state)
{
	size_t cnt = 0;

	if (state->ctx->shared || !state->moved_cnt)
		return false;
	for (size_t i = 0; i < state->probes->cnt; i++)
		cnt += shape_is_of_heap(state->probes->items[i].shape);
	return cnt == state->moved_cnt;
}

static int attach_result(const struct attach_state *state)
{
	const struct options *opts = state->ctx->opts;
	pid_t pid = state->process->info.pid;

	if (is_out_of_reach(state)) {
		log_error("process %d cannot be traced: its allocator runs in anonymous memory",
			  pid);
		return -ENOENT;
	}
	if (state->heap_found || opts->fds)
		return 0;
	/* Log nothing: many of the processes found by a filter have no allocator. */
	if (state->process->found)
		return -ENOENT;
	if (state->err == -ESRCH) {
		log_error("process %d ended while probes were being placed in it", pid);
		return -ESRCH;
	}
	/*
	 * Not an error: a termination signal stopped the search or followed a search that took too
	 * long. The final report is still made.
	 */
	if (signals_end_pending()) {
		log_note("memleak was asked to end before any probe was placed in process %d", pid);
		return 0;
	}
	if (state->err) {
		log_error("no probe could be placed in process %d: %s", pid,
			  state->err == -ETIMEDOUT ? "searching its files takes too long"
						   : strerror(-state->err));
		return state->err;
	}
	/*
	 * Without r_debug, the program is static. No allocator function was found in its file, so
	 * the file has no symbols.
	 */
	if (!state->process->r_debug && !state->process->logged_unread && !opts->object &&
	    !opts->symbols_prefix) {
		log_error("process %d is statically linked and its functions have no names: trace "
			  "a build that is not stripped",
			  pid);
		return -ENOENT;
	}
	log_error("%s %s %smalloc or any other allocator function: give the file that does with -O "
		  "PATH, or the prefix of its functions with -S PREFIX",
		  opts->object ? opts->object : "no file that the process maps",
		  opts->object ? "does not define" : "defines",
		  opts->symbols_prefix ? opts->symbols_prefix : "");
	return -ENOENT;
}

/*
 * Stores what is needed to detect unloads: the address of r_debug, and the files that are never
 * unloaded.
 */
static void note_loader(struct user_process *process, const struct module_list *list)
{
	struct file_id *permanent =
		reallocarray(process->permanent, list->permanent_cnt + 1, sizeof(*permanent));

	process->r_debug = list->r_debug;
	process->permanent_cnt = 0;
	if (!permanent)
		return;
	process->permanent = permanent;
	process->permanent_cnt = list->permanent_cnt;
	for (size_t i = 0; i < list->permanent_cnt; i++)
		permanent[i] = list->items[i].id;
}

static void note_searched(struct user_process *process, const struct module_list *list)
{
	struct file_id *searched =
		reallocarray(process->searched, list->cnt + 1, sizeof(*searched));

	if (!searched)
		return;
	process->raises_known = process->throws;
	process->searched = searched;
	process->searched_cnt = list->cnt;
	for (size_t i = 0; i < list->cnt; i++)
		searched[i] = list->items[i].id;
}

static bool is_probed(const struct probe_set *set, const struct custom_function *custom)
{
	for (size_t i = 0; i < set->cnt; i++)
		if (set->items[i].function == custom->name)
			return true;
	return false;
}

/*
 * Searches all listed files for the function name that is most similar to the given name. Returns
 * it, or NULL if there is none. The caller frees it.
 */
static char *nearest_function(const struct module_list *list, const char *name)
{
	struct nearest nearest = nearest_begin(name, strlen(name));
	uint64_t deadline_ns = clock_deadline_ns(NEAREST_NS);
	char *ret = NULL;

	for (size_t i = 0; i < list->cnt; i++) {
		char *found = prober_nearest(list->items[i].fd, &nearest, deadline_ns);

		if (!found)
			continue;
		free(ret);
		ret = found;
	}
	return ret;
}

static void note_missing_custom(const struct attach_state *state, const struct module_list *list)
{
	const struct options *opts = state->ctx->opts;

	for (size_t i = 0; i < opts->custom_function_cnt; i++) {
		const char *name = opts->custom_functions[i].name;
		cleanup_free char *meant = NULL;

		if (is_probed(state->probes, &opts->custom_functions[i]))
			continue;
		meant = nearest_function(list, name);
		log_note("%s is not probed: process %d has no such function yet%s%s%s", name,
			 state->process->info.pid, meant ? "; did you mean " : "",
			 meant ? meant : "", meant ? "?" : "");
	}
}

void attach_later(const struct user_context *ctx, struct user_process *process)
{
	struct attach_state state;
	struct module_list list;
	int err = attach_begin(&state, ctx, process);

	state.later = true;
	if (err || attach_modules(&state, &list))
		goto out;
	if (list.unread)
		log_unread(&state, &list);
	for (size_t i = 0; list.is_consistent && i < list.cnt && !ctx->opts->fds; i++) {
		if (ctx->shared)
			attach_once(&state, &list.items[i], SCOPE_EXPORTED);
		else if (!was_searched(process, &list.items[i]))
			search_module(&state, &list.items[i], SCOPE_EXPORTED);
	}
	attach_raises(&state, &list);
	attach_free_code(&state, &list);
	check_moved(&state, &list);
	if (list.is_consistent && !state.postponed)
		note_searched(process, &list);
	module_list_deinit(&list);
out:
	process->changed |= state.postponed;
	attach_end(&state);
}

int attach_process(const struct user_context *ctx, struct user_process *process)
{
	struct attach_state state;
	struct module_list list;
	int err = attach_begin(&state, ctx, process);

	if (!err && ctx->opts->object)
		err = attach_object(&state);
	if (err)
		goto out;
	err = attach_modules(&state, &list);
	if (err == -EAGAIN || (err && process->found)) {
		goto out;
	} else if (err) {
		log_error("cannot read the libraries of process %d: %s", process->info.pid,
			  strerror(-err));
		goto out;
	}
	if (list.no_files) {
		log_note("not all files of process %d are searched for allocator functions: too "
			 "many are open (ulimit -n)",
			 process->info.pid);
		state.missed = true;
		state.err = -EMFILE;
	}
	if (list.unread)
		log_unread(&state, &list);
	attach_all(&state, &list);
	check_moved(&state, &list);
	process->attached = list.is_consistent && !state.postponed;
	/* Libraries may have been loaded before the hook was probed: read the list again. */
	process->changed |= state.hooked;
	note_loader(process, &list);
	if (process->attached) {
		note_searched(process, &list);
		note_missing_custom(&state, &list);
	}
	module_list_deinit(&list);
	err = process->attached ? attach_result(&state) : -EAGAIN;
	/*
	 * A probe was placed only after the program had started, so allocations may have been
	 * missed. This happens if the program uses an allocator in a file that had no probes
	 * before.
	 */
	if (process->after_exec && (state.placed || state.deferred))
		user_process__count_gap(process);
	if (process->attached)
		process->after_exec = false;
out:
	attach_end(&state);
	return err;
}

/* Returns the program file, which is mapped first: exec maps it before the dynamic loader. */
static struct file_id program_file(const struct proc_maps *maps)
{
	const struct mapping *first = NULL;

	for_each_mapping (mapping, maps)
		if (mapping->executable && mapping->file.ino &&
		    (!first || mapping->since_ns < first->since_ns))
			first = mapping;
	return first ? first->file : (struct file_id){0};
}

/*
 * Probes a file that an ended process had mapped. If the file had no probes before, allocations of
 * the ended process were missed.
 */
static void look_into(struct attach_state *state, const struct mapping *mapping,
		      enum function_scope scope)
{
	struct module module = {.path = (char *)mapping->path};
	struct stat st;

	if (!mapping->executable || !mapping->file.ino)
		return;
	module.fd = mapped_file_open(mapping, &st);
	if (module.fd < 0)
		return;
	attach_once(state, &module, scope);
	close(module.fd);
}

void attach_ended(const struct user_context *ctx, struct user_process *process)
{
	struct attach_state state;
	struct proc_maps maps;
	struct file_id program;

	if (attach_begin(&state, ctx, process) == 0 && !ctx->opts->fds &&
	    user_process__maps_from_records(ctx, process, &maps) == 0) {
		program = program_file(&maps);
		for_each_mapping (mapping, &maps)
			look_into(&state, mapping,
				  file_id_equal(&mapping->file, &program) ? SCOPE_GLOBAL
									  : SCOPE_EXPORTED);
		proc_maps_deinit(&maps);
	}
	if (state.placed || state.deferred || state.postponed)
		user_process__count_gap(process);
	attach_end(&state);
}
