// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Selects and loads the BPF programs that the kernel supports and the options need; starts
 * unwinding.
 */
#include "loader/user/programs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/test_knobs.h"
#include "loader/probes/entry_programs.h"
#include "loader/probes/features.h"
#include "loader/probes/file_system.h"
#include "loader/probes/link_kind.h"
#include "loader/probes/multi_link.h"
#include "loader/probes/probe_safety.h"
#include "loader/probes/skeleton.h"
#include "loader/target/map_events.h"
#include "loader/user/fd_programs.h"
#include "loader/user/lifecycle.h"

/*
 * Number of additional entries in BPF maps whose key is the image: room for images that have ended
 * but whose records are still pending.
 */
#define EXECS_AT_ONCE 1024

/* Maximum processes that run in the memory of others, as between vfork and exec. */
#define BORROWERS_AT_ONCE 1024

/*
 * Returns the size of the ring for stack copies, in bytes. Starting a program can defer thousands
 * of stacks within a short time.
 */
static uint32_t copies_bytes(const struct user_context *ctx)
{
	const struct options *opts = ctx->opts;

	if (ctx->entries_only)
		return (uint32_t)getpagesize();
	if (opts->command || options_share_probes(opts))
		return 32U << 20;
	return 8U << 20;
}

/*
 * True if forked children inherit the blocks of their parents. With -C, single blocks are not
 * recorded, so none can be inherited.
 */
static bool inherits(const struct options *opts)
{
	return opts->follow && !opts->combined_only && !opts->fds;
}

static int prepare_tables(const struct user_context *ctx, const struct features *features,
			  size_t process_cnt)
{
	const char *records_bytes = test_knob(TEST_KNOB_RECORDS_BYTES);
	const struct options *opts = ctx->opts;
	struct user_bpf *skel = ctx->skel;
	struct memleak_config *config = (struct memleak_config *)&skel->rodata->config;
	int err = tracker_prepare(opts, skel->obj, opts->stack_depth, features->hash_on_demand,
				  config);

	err |= bpf_map__set_max_entries(skel->maps.targets,
					(uint32_t)process_cnt + BORROWERS_AT_ONCE);
	if (inherits(opts))
		err |= descendants_prepare(skel->obj, config->max_allocs, features->hash_on_demand);
	config->unwind = opts->unwind;
	if (opts->summary)
		err |= bpf_map__set_max_entries(skel->maps.summaries,
						(uint32_t)process_cnt + EXECS_AT_ONCE);
	err |= bpf_map__set_max_entries(skel->maps.unwind_spaces,
					(uint32_t)process_cnt + EXECS_AT_ONCE);
	err |= bpf_map__set_max_entries(skel->maps.interpreters,
					(uint32_t)process_cnt + EXECS_AT_ONCE);
	err |= bpf_map__set_autocreate(
		config->exchange ? skel->maps.thread_table : skel->maps.thread_slots, false);
	if (records_bytes)
		err |= bpf_map__set_max_entries(skel->maps.records, (uint32_t)atoi(records_bytes));
	if (!opts->trace)
		err |= bpf_map__set_max_entries(skel->maps.events, (uint32_t)getpagesize());
	config->find_vma = features->find_vma;
	config->peak = opts->peak;
	err |= fd_programs_prepare(opts, skel);
	err |= bpf_program__set_autoload(skel->progs.item_count_written,
					 !ctx->entries_only && !opts->fds);
	skel->bss->deferred_watch.ring_bytes = copies_bytes(ctx);
	err |= bpf_map__set_max_entries(skel->maps.stack_copies, copies_bytes(ctx));
	return err ? -EINVAL : 0;
}

/*
 * Selects the BPF programs for this kind of link. Programs that are reached by tail calls must have
 * the same attach type as the programs that call them.
 */
static int choose_programs(struct user_bpf *skel, enum link_kind kind)
{
	struct memleak_config *config = (struct memleak_config *)&skel->rodata->config;
	const struct {
		struct bpf_program *program;
		bool wanted;
	} programs[] = {
		{skel->progs.session_call, kind == LINK_SESSION},
		{skel->progs.session_walk, kind == LINK_SESSION},
		{skel->progs.session_walk_by_vma, kind == LINK_SESSION && config->find_vma},
		{skel->progs.session_event, kind == LINK_SESSION && config->trace_stacks},
		{skel->progs.session_decide, kind == LINK_SESSION},
		{skel->progs.enter_any, kind == LINK_MULTI || kind == LINK_PERF},
		{skel->progs.leave_call, kind != LINK_SESSION},
		{skel->progs.walk_stack, kind != LINK_SESSION},
		{skel->progs.walk_by_vma, kind != LINK_SESSION && config->find_vma},
		{skel->progs.walk_event, kind != LINK_SESSION && config->trace_stacks},
		{skel->progs.decide_nesting, kind != LINK_SESSION},
		{skel->progs.enter_decided, kind == LINK_SHAPE},
	};
	int type = kind == LINK_SESSION ? SESSION_LINK_ATTACH_TYPE : MULTI_LINK_ATTACH_TYPE;
	int err = 0;

	config->sessions = kind == LINK_SESSION;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		err |= bpf_program__set_autoload(programs[i].program, programs[i].wanted);
		if (kind == LINK_SESSION || kind == LINK_MULTI)
			err |= bpf_program__set_expected_attach_type(programs[i].program,
								     (enum bpf_attach_type)type);
	}
	return err;
}

/*
 * Selects the BPF programs for entry probes: a single program, or one program for each call shape
 * if the kernel does not support cookies.
 */
static int choose_links(struct user_context *ctx)
{
	static const char *const names[] = {
		[LINK_SESSION] = "uprobe_multi links of sessions",
		[LINK_MULTI] = "uprobe_multi links",
		[LINK_PERF] = "perf events",
		[LINK_SHAPE] = "perf events without cookies",
	};
	struct user_bpf *skel = ctx->skel;
	struct probe_programs *programs = &ctx->programs;
	struct bpf_program *shapes[] = {
		[MEMLEAK_SHAPE_SIZE] = skel->progs.enter_of_size,
		[MEMLEAK_SHAPE_COUNT_SIZE] = skel->progs.enter_of_count_size,
		[MEMLEAK_SHAPE_ALIGN_SIZE] = skel->progs.enter_of_align_size,
		[MEMLEAK_SHAPE_REALLOC] = skel->progs.enter_of_realloc,
		[MEMLEAK_SHAPE_REALLOCARRAY] = skel->progs.enter_of_reallocarray,
		[MEMLEAK_SHAPE_POSIX_MEMALIGN] = skel->progs.enter_of_posix_memalign,
		[MEMLEAK_SHAPE_FREE] = skel->progs.enter_of_free,
		[MEMLEAK_SHAPE_MMAP] = skel->progs.enter_of_mmap,
		[MEMLEAK_SHAPE_MUNMAP] = skel->progs.enter_of_munmap,
		[MEMLEAK_SHAPE_MREMAP] = skel->progs.enter_of_mremap,
		[MEMLEAK_SHAPE_HEAP_COUNT_SIZE] = skel->progs.enter_of_heap_count_size,
		[MEMLEAK_SHAPE_HEAP_REALLOC] = skel->progs.enter_of_heap_realloc,
		[MEMLEAK_SHAPE_HEAP_REALLOCARRAY] = skel->progs.enter_of_heap_reallocarray,
		[MEMLEAK_SHAPE_HEAP_FREE] = skel->progs.enter_of_heap_free,
		[MEMLEAK_SHAPE_RESIZE] = skel->progs.enter_of_resize,
		[MEMLEAK_SHAPE_HEAP_DESTROY] = skel->progs.enter_of_heap_destroy,
		[MEMLEAK_SHAPE_STRING] = skel->progs.enter_of_string,
		[MEMLEAK_SHAPE_PATH] = skel->progs.enter_of_path,
		[MEMLEAK_SHAPE_HEAP_PATH] = skel->progs.enter_of_heap_path,
		[MEMLEAK_SHAPE_REALLOCF] = skel->progs.enter_of_reallocf,
		[MEMLEAK_SHAPE_HEAP_REALLOCF] = skel->progs.enter_of_heap_reallocf,
		[MEMLEAK_SHAPE_LIBRARIES] = skel->progs.enter_of_libraries,
		[MEMLEAK_SHAPE_RETURN] = skel->progs.enter_of_return,
		[MEMLEAK_SHAPE_RAISE] = skel->progs.enter_of_raise,
		[MEMLEAK_SHAPE_CODE] = skel->progs.enter_of_code,
	};
	int err = 0;

	_Static_assert(sizeof(shapes) / sizeof(shapes[0]) == MEMLEAK_SHAPE_CNT,
		       "each shape has a program");
	programs->session = skel->progs.session_call;
	programs->any = skel->progs.enter_any;
	programs->ret = skel->progs.leave_call;
	memcpy(programs->shapes, shapes, sizeof(shapes));
	err |= choose_programs(skel, programs->kind);
	for (size_t i = 0; i < MEMLEAK_SHAPE_CNT; i++)
		err |= shapes[i]
			       ? bpf_program__set_autoload(shapes[i], programs->kind == LINK_SHAPE)
			       : -ENOENT;
	log_verbose("probes are attached through %s", names[programs->kind]);
	return err ? -EINVAL : 0;
}

static int put_tail_calls(const struct user_bpf *skel, enum link_kind kind)
{
	const struct bpf_program *const session_tail_calls[MEMLEAK_TAIL_CNT] = {
		[MEMLEAK_TAIL_WALK] = skel->progs.session_walk,
		[MEMLEAK_TAIL_VMA] = skel->progs.session_walk_by_vma,
		[MEMLEAK_TAIL_EVENT] = skel->progs.session_event,
		[MEMLEAK_TAIL_DECIDE] = skel->progs.session_decide,
		[MEMLEAK_TAIL_ENTER] = skel->progs.session_call,
	};

	if (kind == LINK_SESSION)
		return skeleton_put_tail_calls(skel->maps.session_tail_calls, session_tail_calls);
	return entry_programs_put_tail_calls(skel, kind == LINK_SHAPE ? skel->progs.enter_decided
								      : skel->progs.enter_any);
}

/* Sets up the tail calls of the BPF programs, and starts the unwinder. */
static int start_unwinding(struct user_programs *programs)
{
	const struct user_context *ctx = &programs->ctx;
	struct user_bpf *skel = ctx->skel;
	const struct unwind_spaces_fds fds = {
		.arenas = bpf_map__fd(skel->maps.unwind_arenas),
		.files = bpf_map__fd(skel->maps.unwind_files),
		.spaces = bpf_map__fd(skel->maps.unwind_spaces),
		.targets = bpf_map__fd(skel->maps.targets),
		.interpreters = bpf_map__fd(skel->maps.interpreters),
		.stamp = &skel->data->spaces_stamp,
	};
	int err = ctx->entries_only ? 0 : put_tail_calls(skel, ctx->programs.kind);

	if (err) {
		log_error("the kernel rejected the program that walks stacks: %s", strerror(-err));
		return err;
	}
	err = unwind_spaces_init(&programs->unwind, &fds, ctx->symbolizer,
				 ctx->opts->unwind != MEMLEAK_UNWIND_FP);
	if (err)
		log_error("cannot start the helper that builds unwind tables: %s", strerror(-err));
	return err;
}

static int start_deferred(struct user_programs *programs)
{
	struct user_bpf *skel = programs->ctx.skel;
	struct deferred_stacks *deferred = &programs->deferred;
	int err;

	deferred->stacks = &programs->tracker.stacks;
	deferred->spaces = &programs->unwind;
	deferred->walker.budgets = &programs->unwind.files.budgets;
	deferred->watch = &skel->bss->deferred_watch;
	err = deferred_stacks_init(deferred, bpf_map__fd(skel->maps.stack_copies));
	if (err)
		log_error("cannot receive copies of stacks: %s", strerror(-err));
	/* Without unwind tables, no stack is deferred. */
	else if (programs->ctx.opts->unwind != MEMLEAK_UNWIND_FP)
		deferred_stacks_start(deferred);
	return err;
}

/* Passes the target filter to the BPF programs. Returns the maximum number of targets. */
static size_t choose_targets(const struct user_context *ctx, const struct target_filter *filter,
			     size_t process_cnt)
{
	const struct memleak_target_filter *rule = &filter->rule;
	struct user_bpf *skel = ctx->skel;

	*(struct memleak_target_filter *)&skel->rodata->target_filter = *rule;
	bpf_program__set_autoload(skel->progs.process_move, rule->by_cgroup);
	bpf_program__set_autoload(skel->progs.process_move_second, rule->by_cgroup);
	bpf_program__set_autoload(skel->progs.cgroup_made, rule->by_cgroup);
	bpf_program__set_autoload(skel->progs.cgroup_made_second, rule->by_cgroup);
	if (rule->by_cgroup)
		target_filter_publish_cgroup(filter, &skel->bss->target_filter_cgroup);
	if (!ctx->shared)
		return process_cnt;
	((struct memleak_config *)&skel->rodata->config)->quotas = true;
	bpf_map__set_max_entries(skel->maps.quotas, MEMLEAK_QUOTAS + 1);
	return MEMLEAK_TARGETS_MAX;
}

static int load(struct user_programs *programs, const struct target_filter *filter,
		size_t process_cnt, int (*choose)(void *arg, struct user_context *ctx), void *arg)
{
	struct user_context *ctx = &programs->ctx;
	struct features features;
	int err;

	features_probe(&features);
	programs->cost.trap_ns = features.trap_ns;
	if (choose) /* it opens files */
		file_system_refuse_served();
	ctx->skel = SKELETON_OPEN(user_bpf);
	if (!ctx->skel) {
		err = -errno;
		log_error("cannot open the BPF programs: %s", strerror(-err));
		return err;
	}
	process_cnt = choose_targets(ctx, filter, process_cnt);
	ctx->programs.entries = entry_programs__new(ctx->skel);
	if (!ctx->programs.entries)
		return -ENOMEM;
	err = prepare_tables(ctx, &features, process_cnt);
	ctx->programs.kind = link_kind_choose(&features);
	((struct memleak_config *)&ctx->skel->rodata->config)->bound =
		!ctx->shared && probe_programs_bound(&ctx->programs);
	if (!err)
		err = choose ? choose(arg, ctx) : choose_links(ctx);
	if (!err)
		err = user_bpf__load(ctx->skel);
	if (!err)
		file_system_refuse_served_by(bpf_program__fd(ctx->skel->progs.check_file_system),
					     &ctx->skel->bss->file_fd,
					     &ctx->skel->bss->file_served);
	/*
	 * The traced command may run other programs. Load the BPF program for entry probes now,
	 * since loading it later would delay the first probes in those programs.
	 */
	if (!err && ctx->opts->command && ctx->programs.kind == LINK_SESSION)
		entry_programs__get(ctx->programs.entries);
	if (err)
		log_error("the kernel rejected the BPF programs: %s (-vv shows the verifier's "
			  "messages)",
			  strerror(-err));
	return err;
}

int user_programs_init(struct user_programs *programs, const struct options *opts,
		       struct symbolizer *symbolizer)
{
	int err = 0;

	*programs = (struct user_programs){.ctx = {
						   .opts = opts,
						   .symbolizer = symbolizer,
						   .unwind = &programs->unwind,
					   }};
	cost_meter_init(&programs->cost);
	if (!options_share_probes(opts))
		return 0;
	if (!opts->force)
		err = probe_safety_check_shared();
	if (err)
		return err;
	programs->shared.probes.binding = MEMLEAK_ANY_BINDING;
	programs->ctx.shared = &programs->shared;
	err = map_events__new(&programs->ctx.map_events);
	if (err)
		log_error("cannot receive mapping events: %s", strerror(-err));
	return err;
}

static bool may_miss(const struct bpf_program *program)
{
	return lifecycle_is_second(program) || fd_programs_have(program);
}

int user_programs_load(struct user_programs *programs, const struct target_filter *filter,
		       size_t process_cnt, int (*choose)(void *arg, struct user_context *ctx),
		       void *arg)
{
	struct tracker *tracker = &programs->tracker;
	int err = load(programs, filter, process_cnt, choose, arg);
	struct user_bpf *skel = programs->ctx.skel;

	if (err)
		return err;
	tracker->walker.opts = programs->ctx.opts;
	tracker->object = programs->ctx.skel->obj;
	tracker->walker.space = SPACE_USER;
	tracker->may_miss = may_miss;
	err = tracker_init(tracker, tracker->walker.opts->stack_depth, &skel->bss->stack_watch);
	tracker->reading = &skel->bss->reading;
	if (!err && skel->rodata->config.grows)
		block_tables_watch(&tracker->blocks, skel->rodata->config.max_allocs,
				   &skel->bss->block_watch);
	if (!err && inherits(tracker->walker.opts)) {
		tracker->descendants = &programs->descendants;
		err = descendants_init(&programs->descendants, tracker->object);
	}
	if (!err)
		err = start_unwinding(programs);
	return err ? err : start_deferred(programs);
}

void user_programs_detach(struct user_programs *programs)
{
	shared_probes_deinit(&programs->shared);
	deferred_stacks_deinit(&programs->deferred);
}

void user_programs_deinit(struct user_programs *programs)
{
	const struct user_bpf *skel = programs->ctx.skel;

	if (skel)
		file_system_forget(bpf_program__fd(skel->progs.check_file_system));
	entry_programs__free(programs->ctx.programs.entries);
	user_bpf__destroy(programs->ctx.skel);
	unwind_spaces_deinit(&programs->unwind);
	tracker_deinit(&programs->tracker);
	descendants_deinit(&programs->descendants);
	cost_meter_deinit(&programs->cost);
	map_events__free(programs->ctx.map_events);
}
