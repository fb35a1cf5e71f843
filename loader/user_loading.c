// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the user programs as the kernel and the options want them. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/endings.h"
#include "loader/entry_programs.h"
#include "loader/features.h"
#include "loader/log.h"
#include "loader/multi_link.h"
#include "loader/skeleton.h"
#include "loader/user_source_impl.h"

/* Images of which it was not heard yet that they are no more. */
#define EXECS_AT_ONCE 1024

/* A program that begins has most of its late stacks then, thousands of them. */
static uint32_t copies_bytes(const struct options *opts)
{
	if (opts->count_by)
		return (uint32_t)getpagesize();
	if (opts->command || options_share_probes(opts))
		return 32U << 20;
	return opts->verify_unwind ? 16U << 20 : 8U << 20;
}

/* Whether children have what their parents had: with -C it is not known what that is. */
static bool inherits(const struct options *opts)
{
	return opts->follow && !opts->combined_only;
}

static int prepare_tables(const struct options *opts, const struct features *features,
			  size_t process_cnt, uint32_t stack_depth, struct user_bpf *skel)
{
	struct memleak_config *config = (struct memleak_config *)&skel->rodata->config;
	int err = tracker_prepare(opts, skel->obj, stack_depth, features->hash_on_demand, config);

	err |= bpf_map__set_max_entries(skel->maps.targets, (uint32_t)process_cnt);
	if (inherits(opts))
		err |= heirs_prepare(skel->obj, opts->max_allocs, features->hash_on_demand);
	config->unwind = opts->unwind;
	if (opts->summary)
		err |= bpf_map__set_max_entries(skel->maps.summaries,
						(uint32_t)process_cnt + EXECS_AT_ONCE);
	err |= bpf_map__set_max_entries(skel->maps.unwind_spaces,
					(uint32_t)process_cnt + EXECS_AT_ONCE);
	err |= bpf_map__set_autocreate(
		config->exchange ? skel->maps.thread_table : skel->maps.thread_places, false);
	if (!opts->trace)
		err |= bpf_map__set_max_entries(skel->maps.events, (uint32_t)getpagesize());
	config->verify_unwind = opts->verify_unwind;
	config->peak = opts->peak;
	skel->bss->late_watch.ring_bytes = copies_bytes(opts);
	err |= bpf_map__set_max_entries(skel->maps.stack_copies, copies_bytes(opts));
	return err ? -EINVAL : 0;
}

static enum link_kind best_links(const struct features *features)
{
	if (!features->cookies)
		return LINK_SHAPE;
	if (!features->multi_links)
		return LINK_PERF;
	return features->session_links ? LINK_SESSION : LINK_MULTI;
}

/* MEMLEAK_LINKS=multi, perf or shape: a kind that needs less than the best, for tests. */
static enum link_kind wanted_links(const struct features *features)
{
	static const struct {
		const char *name;
		enum link_kind kind;
	} names[] = {{"multi", LINK_MULTI}, {"perf", LINK_PERF}, {"shape", LINK_SHAPE}};
	enum link_kind best = best_links(features);
	const char *forced = getenv("MEMLEAK_LINKS");

	for (size_t i = 0; forced && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(forced, names[i].name) == 0 && names[i].kind > best)
			return names[i].kind;
	return best;
}

/*
 * Those that links of a session or multi links hold are loaded for them; what is called at a
 * program's end must be of its kind.
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
		{skel->progs.session_event, kind == LINK_SESSION && config->trace_stacks},
		{skel->progs.session_decide, kind == LINK_SESSION},
		{skel->progs.enter_any, kind == LINK_MULTI || kind == LINK_PERF},
		{skel->progs.leave_call, kind != LINK_SESSION},
		{skel->progs.walk_stack, kind != LINK_SESSION},
		{skel->progs.walk_event, kind != LINK_SESSION && config->trace_stacks},
		{skel->progs.decide_nesting, false},
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

/* One program for all entries, or, where probes have no cookies, one for each shape of call. */
static int choose_links(struct user_source *source, const struct features *features)
{
	static const char *const names[] = {
		[LINK_SESSION] = "uprobe_multi links of sessions",
		[LINK_MULTI] = "uprobe_multi links",
		[LINK_PERF] = "perf events",
		[LINK_SHAPE] = "perf events without cookies",
	};
	struct user_bpf *skel = source->ctx.skel;
	struct probe_programs *programs = &source->ctx.programs;
	struct bpf_program *shapes[MEMLEAK_SHAPE_CNT] = {
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
		[MEMLEAK_SHAPE_LIBRARIES] = skel->progs.enter_of_libraries,
		[MEMLEAK_SHAPE_RETURN] = skel->progs.enter_of_return,
		[MEMLEAK_SHAPE_RAISE] = skel->progs.enter_of_raise,
	};
	int err = 0;

	programs->kind = wanted_links(features);
	if (source->ctx.opts->count_by)
		return user_count__choose(source);
	programs->session = skel->progs.session_call;
	programs->any = skel->progs.enter_any;
	programs->ret = skel->progs.leave_call;
	memcpy(programs->shapes, shapes, sizeof(shapes));
	err |= choose_programs(skel, programs->kind);
	for (size_t i = 0; i < MEMLEAK_SHAPE_CNT; i++)
		err |= bpf_program__set_autoload(shapes[i], programs->kind == LINK_SHAPE);
	log_verbose("probes are held by %s", names[programs->kind]);
	return err ? -EINVAL : 0;
}

static int put_endings(const struct user_bpf *skel, enum link_kind kind)
{
	const struct bpf_program *const endings[MEMLEAK_ENDING_CNT] = {
		[MEMLEAK_ENDING_WALK] = skel->progs.walk_stack,
		[MEMLEAK_ENDING_EVENT] = skel->progs.walk_event,
	};
	const struct bpf_program *const session_endings[MEMLEAK_ENDING_CNT] = {
		[MEMLEAK_ENDING_WALK] = skel->progs.session_walk,
		[MEMLEAK_ENDING_EVENT] = skel->progs.session_event,
		[MEMLEAK_ENDING_DECIDE] = skel->progs.session_decide,
	};

	if (kind == LINK_SESSION)
		return endings_put(skel->maps.session_endings, session_endings);
	return endings_put(skel->maps.endings, endings);
}

/* The entry programs end with the one that walks. */
static int start_unwinding(struct user_source *source)
{
	struct user_bpf *skel = source->ctx.skel;
	const struct unwind_maps_fds fds = {
		.arenas = bpf_map__fd(skel->maps.unwind_arenas),
		.spaces = bpf_map__fd(skel->maps.unwind_spaces),
		.targets = bpf_map__fd(skel->maps.targets),
		.stamp = &skel->data->spaces_stamp,
	};
	int err = source->ctx.opts->count_by ? 0 : put_endings(skel, source->ctx.programs.kind);

	if (err) {
		log_error("the kernel does not take the program that walks stacks: %s",
			  strerror(-err));
		return err;
	}
	err = unwind_maps_init(&source->unwind, &fds, source->ctx.symbolizer,
			       source->ctx.opts->unwind != MEMLEAK_UNWIND_FP);
	if (err)
		log_error("cannot start the helper that reads unwind tables: %s", strerror(-err));
	return err;
}

/* Stacks that are walked a second time, late ones and those that are compared. */
static int start_copies(struct user_source *source)
{
	struct user_bpf *skel = source->ctx.skel;
	struct stack_copies *copies = &source->copies;
	uint32_t compared = source->ctx.opts->verify_unwind;
	int err;

	copies->late.tracker = &source->tracker;
	copies->late.maps = &source->unwind;
	copies->late.watch = &skel->bss->late_watch;
	err = stack_copies_init(copies, bpf_map__fd(skel->maps.stack_copies));
	if (!err && compared)
		err = unwind_check__new(&copies->reference, compared, &copies->check);
	if (err)
		log_error("cannot take stacks to be walked again: %s", strerror(-err));
	/* Without tables no code has one that is late. */
	else if (source->ctx.opts->unwind != MEMLEAK_UNWIND_FP)
		unwind_late_start(&copies->late);
	return err;
}

/* Which processes are targets; many may be. */
static size_t choose_members(const struct user_source *source, size_t process_cnt)
{
	const struct memleak_members *rule = &source->members.rule;
	struct user_bpf *skel = source->ctx.skel;

	*(struct memleak_members *)&skel->rodata->members = *rule;
	bpf_program__set_autoload(skel->progs.process_move, rule->by_cgroup);
	bpf_program__set_autoload(skel->progs.cgroup_made, rule->by_cgroup);
	if (rule->by_cgroup)
		members_tell_cgroup(&source->members, &skel->bss->members_cgroup);
	if (!source->ctx.pool)
		return process_cnt;
	((struct memleak_config *)&skel->rodata->config)->shares = true;
	bpf_map__set_max_entries(skel->maps.shares, MEMLEAK_SHARES + 1);
	return MEMLEAK_TARGETS_MAX;
}

int user_loading__load(struct user_source *source, size_t process_cnt)
{
	const struct options *opts = source->ctx.opts;
	uint32_t stack_depth = opts->stack_depth;
	struct features features;
	struct user_bpf *skel;
	int err;

	features_probe(&features);
	skel = SKELETON_OPEN(user_bpf);
	if (!skel) {
		err = -errno;
		log_error("cannot open the BPF programs: %s", strerror(-err));
		return err;
	}
	source->ctx.skel = skel;
	process_cnt = choose_members(source, process_cnt);
	source->ctx.programs.entries = entry_programs__new(skel);
	if (!source->ctx.programs.entries)
		return -ENOMEM;
	err = prepare_tables(opts, &features, process_cnt, stack_depth, skel);
	if (!err)
		err = choose_links(source, &features);
	if (!err)
		err = user_bpf__load(skel);
	/* The program executes others, whose first allocations would not wait for the loading. */
	if (!err && opts->command && source->ctx.programs.kind == LINK_SESSION)
		entry_programs__get(source->ctx.programs.entries);
	if (err) {
		log_error("the kernel does not take the BPF programs: %s (-vv shows its reasons)",
			  strerror(-err));
		return err;
	}
	source->tracker = (struct tracker){
		.opts = opts,
		.object = skel->obj,
		.space = SPACE_USER,
		.owner = user_snapshot__owner,
		.settle = user_snapshot__settle,
		.watch = &skel->bss->stack_watch,
		.arg = source,
	};
	err = tracker_init(&source->tracker, stack_depth);
	if (!err && inherits(opts)) {
		source->tracker.heirs = &source->heirs;
		err = heirs_init(&source->heirs, skel->obj);
	}
	if (!err)
		err = start_unwinding(source);
	return err ? err : start_copies(source);
}

int user_loading__attach_lifecycle(struct user_source *source)
{
	struct user_bpf *skel = source->ctx.skel;
	int err;

	source->exec_link =
		bpf_program__attach_raw_tracepoint(skel->progs.process_exec, "sched_process_exec");
	if (source->exec_link)
		source->fork_link = bpf_program__attach_raw_tracepoint(skel->progs.process_fork,
								       "sched_process_fork");
	if (source->fork_link)
		source->exit_link = bpf_program__attach_raw_tracepoint(skel->progs.thread_exit,
								       "sched_process_exit");
	if (source->exit_link && source->members.rule.by_cgroup)
		source->move_link = bpf_program__attach_raw_tracepoint(skel->progs.process_move,
								       "cgroup_attach_task");
	if (source->move_link)
		source->mkdir_link =
			bpf_program__attach_raw_tracepoint(skel->progs.cgroup_made, "cgroup_mkdir");
	if (source->exit_link && (source->mkdir_link || !source->members.rule.by_cgroup))
		return 0;
	err = -errno;
	log_error("cannot attach to the scheduler's tracepoints: %s", strerror(-err));
	return err;
}
