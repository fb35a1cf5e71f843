// SPDX-License-Identifier: GPL-2.0-or-later
/* Places the probes of one search through a process's files and logs the results. */
#include "loader/user/attach_state.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/test_knobs.h"
#include "bpf/reading.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/probes/allocators.h"
#include "loader/tables/translate.h"
#include "loader/target/arch.h"

/*
 * Maximum time, in nanoseconds, to search one file (FIRST_FILE_NS, FILE_NS) and all files of a
 * process (FIRST_NS, LATER_NS); normally milliseconds. The limits are longer before tracing begins
 * (FIRST_), because a disk may be slow, and shorter later, because a search delays reports.
 */
#define FIRST_FILE_NS (5 * 1000000000ULL)
#define FIRST_NS (20 * 1000000000ULL)
#define FILE_NS 1000000000ULL
#define LATER_NS 1200000000ULL

/* Delay before postponed files of a process are searched again, in nanoseconds. */
#define POSTPONED_NS 100000000ULL

static void search_names_deinit(struct search_names *names)
{
	for (size_t i = 0; names->names && i < allocator_function_cnt; i++)
		free(names->names[i]);
	free(names->names);
	free(names->first);
}

static int search_names_init(struct search_names *names, const char *prefix)
{
	names->names = calloc(allocator_function_cnt, sizeof(*names->names));
	names->first = calloc(allocator_function_cnt, sizeof(*names->first));
	if (!names->names || !names->first)
		return -ENOMEM;
	for (size_t i = 0; i < allocator_function_cnt; i++) {
		const struct allocator_function *function = &allocator_functions[i];
		enum allocator_family family = function->family;

		/* With -S, search only for mapping functions and prefixed C functions. */
		if (prefix && family != ALLOCATOR_C && family != ALLOCATOR_MAPS)
			continue;
		if (asprintf(&names->names[i], "%s%s",
			     prefix && family == ALLOCATOR_C ? prefix : "", function->name) < 0) {
			names->names[i] = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

/*
 * Returns the real uid of a process, which an ordinary process cannot change; -1 if it has ended.
 */
static uid_t uid_of(pid_t pid)
{
	cleanup_free char *status = NULL;

	return proc_read(pid, "status", &status) ? (uid_t)-1
						 : (uid_t)proc_status_number(status, "Uid");
}

/* Returns the budgets of users. Slow files of a process are charged to its user. */
static struct user_budgets *budgets_of(const struct user_context *ctx)
{
	return &ctx->unwind->files.budgets;
}

int attach_begin(struct attach_state *state, const struct user_context *ctx,
		 struct user_process *process)
{
	pid_t pid = process->info.pid;
	uid_t uid = uid_of(pid);
	bool waits = ctx->skel->bss->tracking;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	*state = (struct attach_state){
		.ctx = ctx,
		.process = process,
		.probes = ctx->shared ? &ctx->shared->probes : &process->probes,
		.bound = ctx->shared || proc_living_thread(pid) != pid ? 0 : pid,
		.uid = uid,
		.patience_ns = patient_ns(waits ? LATER_NS : FIRST_NS),
		.is_budget_spent = waits && !user_budgets_has_time(budgets_of(ctx), uid, now_ns),
		.is_cooling_down = waits && user_budgets_must_pause(budgets_of(ctx), uid, now_ns),
		.hangs = user_budgets_hangs(budgets_of(ctx), uid, now_ns),
		.file_ns = waits ? FILE_NS : FIRST_FILE_NS,
		.was_postponed = process->retry_files_ns,
	};
	return search_names_init(&state->names, ctx->opts->symbols_prefix);
}

/*
 * True if files were searched too late or only in part, unless exec_gaps already counts the current
 * program.
 */
static bool is_late(const struct attach_state *state)
{
	bool found = state->placed || state->deferred;

	return !state->process->gap_counted &&
	       (state->missed || (state->postponed && (state->is_budget_spent || state->hangs)) ||
		(state->was_postponed && found));
}

void attach_end(struct attach_state *state)
{
	struct user_budgets *budgets = budgets_of(state->ctx);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (state->ctx->skel->bss->tracking)
		user_budgets_charge_wait(budgets, state->uid, state->taken_ns, now_ns);
	user_budgets_spend(budgets, state->uid, state->taken_ns, now_ns);
	if (state->postponed && state->is_budget_spent &&
	    user_budgets_should_log(budgets, state->uid, BUDGET_PROBES))
		log_note("reading the files of user %u's processes takes too long: new files are "
			 "not searched for allocator functions for some minutes",
			 state->uid);
	if (state->hangs && user_budgets_should_log(budgets, state->uid, BUDGET_MEMORY))
		log_note("reading the memory of a process of user %u hangs: new processes of this "
			 "user are not searched for allocator functions for some time",
			 state->uid);
	if (is_late(state) && !state->ctx->opts->fds)
		user_process__count_late(state->process);
	state->process->retry_files_ns = state->postponed ? now_ns + POSTPONED_NS : 0;
	search_names_deinit(&state->names);
}

int attach_modules(struct attach_state *state, struct module_list *ret)
{
	bool waits = !state->is_budget_spent && !state->is_cooling_down;
	int err = module_list_init(
		state->process->info.pid,
		state->hangs || state->is_cooling_down ? 0 : patient_ns(MODULES_MEMORY_NS),
		waits ? state->file_ns : 0, ret);

	if (err == -EAGAIN) {
		user_process__log_locked(state->process);
		state->postponed = true;
	}
	if (err)
		return err;
	state->taken_ns += ret->asked_ns;
	if (ret->hangs)
		user_budgets_hang(budgets_of(state->ctx), state->uid, clock_ns(CLOCK_MONOTONIC));
	state->postponed |= ret->unasked;
	return 0;
}

/* Logs the place of a probe, and whether its instruction is emulated or single-stepped. */
static void log_placed(pid_t pid, const struct module *module, const struct probe *probe,
		       const struct probe_place *place)
{
	const char *cost = place->emulated ? "emulated: " : "stepped: ";

	log_verbose("pid %d: %s at %s+0x%llx, entry+%llu %s%s", pid, probe->function, module->path,
		    (unsigned long long)probe->offset, (unsigned long long)place->offset,
		    place->insn ? cost : "", place->insn ? place->insn : "");
}

void log_attached(const struct attach_state *state, const struct module *module,
		  const struct probe *probe, const struct probe_place *place)
{
	pid_t pid = state->process->info.pid;

	if (!probe->err && probe->shape == MEMLEAK_SHAPE_RETURN)
		log_verbose("pid %d: a return of %s at %s+0x%llx", pid, probe->function,
			    module->path, (unsigned long long)probe->offset);
	else if (!probe->err)
		log_placed(pid, module, probe, place);
	else if (probe->err == -EEXIST)
		log_verbose("pid %d: %s at %s+0x%llx already has a probe", pid, probe->function,
			    module->path, (unsigned long long)probe->offset);
	else if (probe->err != -ESRCH)
		log_note("cannot probe %s in %s: %s", probe->function, module->path,
			 strerror(-probe->err));
}

void log_skipped(const struct attach_state *state, const struct module *module,
		 const struct skipped_function *skipped)
{
	if (skipped->verdict == FUNCTION_THROUGH)
		log_verbose("pid %d: %s in %s is not probed: it calls %s, which is probed",
			    state->process->info.pid, skipped->name, module->path,
			    skipped->through);
	else if (arch_elf_machine == EM_X86_64)
		log_note("%s in %s is not traced: it may throw, and not all of its returns were "
			 "found",
			 skipped->name, module->path);
	else
		log_verbose("pid %d: %s in %s is not probed: it may throw",
			    state->process->info.pid, skipped->name, module->path);
}

void log_not_first(const struct attach_state *state, const struct module *module, const char *first)
{
	log_note("process %d: with size filters or sampling, allocator functions of %s are not "
		 "probed, as %s defines them first",
		 state->process->info.pid, module->path, first);
}

void attach_probes(struct attach_state *state, const struct module *module, struct probe_list *list)
{
	int err = probe_set_attach(state->probes, &state->ctx->programs, state->bound, module->fd,
				   list->items, list->cnt);

	if (!state->err)
		state->err = err;
	for (size_t i = 0; i < list->cnt; i++) {
		const struct probe *probe = &list->items[i];

		log_attached(state, module, probe, &list->places[i]);
		state->placed += !probe->err;
		if (!probe->err && list->places[i].insn && !list->places[i].emulated)
			state->process->stepped |= 1U << family_from(probe->shape);
		if ((probe->err && probe->err != -EEXIST) || shape_maps(probe->shape))
			continue;
		state->process->throws |= probe->throws;
		if (!state->heap_found++ && !state->process->allocator)
			state->process->allocator = strdup(module->path);
	}
}
