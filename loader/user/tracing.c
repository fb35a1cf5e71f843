// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Combines the parts of the user space sources and runs each once per iteration of the main loop.
 */
#include "loader/user/tracing.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/proc.h"
#include "loader/probes/allocators.h"
#include "loader/tables/tracker_walk.h"
#include "loader/target/map_events.h"
#include "loader/user/descriptors.h"

/* Maximum deferred stacks finished per process and iteration: reading new code is more urgent. */
#define STACKS_AT_ONCE 32

/* Raises the limit of open files, since each traced process needs several descriptors. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int load(struct tracing *tracing, const struct tracing_request *request)
{
	struct user_programs *programs = &tracing->programs;
	struct process_set *set = &tracing->set;
	int err = user_programs_init(programs, request->opts, request->symbolizer);

	programs->ctx.deadline_ns = clock_deadline_ns(request->start_ns);
	if (err)
		return err;
	programs->ctx.entries_only = request->choose != NULL;
	if (programs->ctx.shared)
		allow_files();
	err = process_set_init(set, programs, request->opts);
	if (err)
		return err;
	programs->tracker.walker.owner = process_set_owner;
	programs->tracker.resolve = process_set_resolve;
	programs->tracker.merge = process_set_merge;
	programs->tracker.walker.arg = set;
	programs->tracker.is_gone = request->opts->fds ? descriptors_are_gone : NULL;
	return user_programs_load(programs, &set->filter, request->pid_cnt, request->choose,
				  request->arg);
}

/* Watches all descriptors that wake the main loop. */
static int watch_all(struct tracing *tracing)
{
	struct process_set *set = &tracing->set;
	struct map_events *map_events = tracing->programs.ctx.map_events;
	int err;

	tracing->records.set = set;
	tracing->records.watches = &tracing->watches;
	err = records_init(&tracing->records);
	if (!err)
		err = process_set_watch(set, deferred_stacks_poll_fd(&tracing->programs.deferred),
					NULL);
	if (!err && map_events)
		err = process_set_watch(set, map_events__poll_fd(map_events), NULL);
	return err ? err : cgroup_watch_init(&tracing->cgroup, set);
}

int tracing_init(struct tracing *tracing, const struct tracing_request *request)
{
	struct process_set *set = &tracing->set;
	size_t found_cnt;
	int err;

	set->epoll_fd = set->retry_fd = -1;
	err = load(tracing, request);
	if (!err)
		err = watch_all(tracing);
	if (!err)
		err = lifecycle_init(&tracing->lifecycle, tracing->programs.ctx.skel,
				     set->filter.rule.by_cgroup);
	if (!err && request->opts->fds)
		err = fd_programs_attach(&tracing->fd_programs, tracing->programs.ctx.skel);
	/* Loading may take seconds: start the time limit for files only now. */
	tracing->programs.ctx.deadline_ns = clock_deadline_ns(request->start_ns);
	if (!err)
		err = process_set_add_pids(set, request->pids, request->pid_cnt);
	if (!err && set->filter.rule.follow && request->pid_cnt)
		err = process_set_find_children(set, request->pids, request->pid_cnt);
	if (!err && set->filter.rule.join)
		err = process_set_find(set, &found_cnt);
	return err;
}

/*
 * Detaches the probes of all processes together. If out of memory, does nothing: the probes of each
 * process are then detached later, one process after another.
 */
static void detach_all(struct tracing *tracing)
{
	struct process_table *table = &tracing->set.table;
	cleanup_free struct probe_set **sets = calloc(table->cnt + 1, sizeof(*sets));

	if (!sets)
		return;
	for (size_t i = 0; i < table->cnt; i++)
		sets[i] = &table->items[i]->probes;
	sets[table->cnt] = &tracing->programs.shared.probes;
	probe_sets_detach(sets, table->cnt + 1);
}

void tracing_deinit(struct tracing *tracing)
{
	item_watches_pause_all(&tracing->watches);
	fd_programs_detach(&tracing->fd_programs);
	detach_all(tracing);
	process_set_deinit(&tracing->set);
	user_programs_detach(&tracing->programs);
	lifecycle_deinit(&tracing->lifecycle);
	records_deinit(&tracing->records);
	cgroup_watch_deinit(&tracing->cgroup);
	user_programs_deinit(&tracing->programs);
}

/* Returns the pids given by -p. The caller frees them. */
static pid_t *given_pids(const struct process_table *table, size_t *ret_cnt)
{
	pid_t *pids = calloc(table->cnt + 1, sizeof(*pids));

	*ret_cnt = 0;
	for (size_t i = 0; pids && i < table->cnt; i++)
		if (!table->items[i]->found)
			pids[(*ret_cnt)++] = table->items[i]->info.pid;
	return pids;
}

/*
 * Removes from `members` the processes that run in the memory of a traced process, and so are
 * traced with it. Returns the number of processes that remain.
 */
static size_t drop_sharers(const pid_t *pids, size_t pid_cnt, struct member *members, size_t cnt)
{
	cleanup_free pid_t *tids = calloc(pid_cnt + 1, sizeof(*tids));
	size_t kept = 0;

	if (!tids)
		return cnt;
	for (size_t i = 0; i < pid_cnt; i++)
		tids[i] = proc_memory_thread(pids[i]);
	for (size_t i = 0; i < cnt; i++)
		if (proc_find_memory(members[i].pid, tids, pid_cnt) == pid_cnt)
			members[kept++] = members[i];
	return kept;
}

/*
 * Logs how many descendants of the processes given by -p are running, and whether they are traced.
 */
static void describe_descendants(const struct process_set *set)
{
	cleanup_free struct member *members = NULL;
	size_t given_cnt, cnt = 0;
	cleanup_free pid_t *given = given_pids(&set->table, &given_cnt);

	if (set->filter.rule.follow) {
		cnt = set->table.cnt - given_cnt;
		if (cnt) {
			log_note("tracing %zu running descendant%s, too", cnt, cnt == 1 ? "" : "s");
			process_set_describe_skipped(set);
		}
		return;
	}
	if (!given || target_filter_find_descendants(given, given_cnt, &members, &cnt))
		return;
	/*
	 * --count counts only in the processes given by -p, not in others that run in their memory.
	 */
	if (cnt && !set->programs->ctx.entries_only)
		cnt = drop_sharers(given, given_cnt, members, cnt);
	if (!cnt)
		return;
	log_note("%zu descendant%s of the traced process%s %s running and not traced%s", cnt,
		 cnt == 1 ? "" : "s", given_cnt == 1 ? "" : "es", cnt == 1 ? "is" : "are",
		 set->programs->ctx.opts->refused & 1U << ADVISED_FOLLOW ? ""
		 : cnt == 1                                              ? ": use -f to trace it"
			    : ": use -f to trace them");
}

/* True if the probe is the first probe of a heap function in its file. */
static bool is_first_of_file(const struct probe_set *set, const struct probe *probe)
{
	for (const struct probe *other = set->items; other < probe; other++)
		if (shape_is_of_heap(other->shape) && file_id_equal(&other->file, &probe->file))
			return false;
	return shape_is_of_heap(probe->shape);
}

static void describe_process(const struct user_process *process, const struct probe_set *probes)
{
	cleanup_free char *others = NULL;
	size_t file_cnt = 0;

	for (size_t i = 0; i < probes->cnt; i++)
		file_cnt += is_first_of_file(probes, &probes->items[i]);
	if (file_cnt > 1 &&
	    asprintf(&others, " and %zu other file%s", file_cnt - 1, file_cnt == 2 ? "" : "s") < 0)
		others = NULL;
	log_note("tracing pid %d (%s): %zu function%s probed in %s%s", process->info.pid,
		 process->info.comm, probes->cnt, probes->cnt == 1 ? "" : "s", process->allocator,
		 others ? others : "");
}

void tracing_describe(const struct tracing *tracing)
{
	const struct process_table *table = &tracing->set.table;
	const struct shared_probes *shared = tracing->programs.ctx.shared;

	for (size_t i = 0; i < table->cnt; i++) {
		const struct user_process *process = table->items[i];

		if (!process->found && tracing->programs.ctx.opts->fds)
			log_note("tracing descriptors of pid %d (%s)", process->info.pid,
				 process->info.comm);
		else if (!process->found && process->allocator)
			describe_process(process, shared ? &shared->probes : &process->probes);
	}
	if (tracing->set.filter.rule.join)
		process_set_describe(&tracing->set);
	else
		describe_descendants(&tracing->set);
}

void tracing_start(struct tracing *tracing)
{
	process_set_refresh_given(&tracing->set);
	tracker_start(&tracing->programs.tracker);
	tracing->programs.ctx.skel->bss->tracking = true;
	/* Descriptors that are opened from now on are tracked: read which ones are already open. */
	descriptors_begin(&tracing->set);
}

int tracing_poll_fd(const struct tracing *tracing)
{
	return tracing->set.epoll_fd;
}

static bool is_image(void *arg, uint32_t image)
{
	return process_set_process(arg, image) != NULL;
}

static int handle_pending(struct tracing *tracing, bool all, uint64_t deadline_ns)
{
	struct user_programs *programs = &tracing->programs;
	struct process_set *set = &tracing->set;
	int err;

	programs->ctx.deadline_ns = deadline_ns;
	process_set_poll(set);
	if (programs->ctx.map_events)
		map_events__consume(programs->ctx.map_events);
	cgroup_watch_check(&tracing->cgroup);
	deferred_stacks_consume(&programs->deferred);
	err = records_consume(&tracing->records, all);
	block_tables_grow(&programs->tracker.blocks, &programs->tracker.recent);
	process_set_end_gone(set);
	process_set_finish_stacks(set, STACKS_AT_ONCE);
	/*
	 * Drop stacks of unknown images only after all records are read: the record of an exec
	 * precedes the first stack of the new image, but may still be unread.
	 */
	if (records_are_read(&tracing->records))
		deferred_stacks_drop(&programs->deferred, is_image, set);
	if (programs->deferred.waiting_cnt)
		process_set_retry_soon(set);
	return err;
}

int tracing_dispatch(struct tracing *tracing, uint64_t deadline_ns)
{
	return handle_pending(tracing, false, deadline_ns);
}

int tracing_drain(struct tracing *tracing, uint64_t deadline_ns)
{
	int err = handle_pending(tracing, true, deadline_ns);

	if (err)
		return err;
	process_set_finish_all_stacks(&tracing->set);
	process_set_read_mappings(&tracing->set);
	/*
	 * Read the records after the mappings. A move is recorded before the kernel makes it: if
	 * the mappings show the move, its record has already arrived. Until the comparison, do not
	 * read mappings again: they would be newer than the records, so they could not be compared.
	 */
	err = records_catch_up(&tracing->records);
	process_set_compare_mappings(&tracing->set);
	process_set_mark_ended(&tracing->set);
	return err;
}

/* Logs that no allocator call was seen since the last report, with possible reasons. */
static void log_silent(struct tracing *tracing, uint64_t calls)
{
	if (calls != tracing->reported_calls)
		tracing->logged_silent = false;
	else if (!tracing->logged_silent) {
		log_note("no allocator call was seen in this interval: the process is idle or "
			 "stopped, or uses an allocator that is not probed (-v lists the probed "
			 "functions)");
		tracing->logged_silent = true;
	}
	tracing->reported_calls = calls;
}

void tracing_maintain(struct tracing *tracing, uint64_t calls)
{
	if (!process_set_ended(&tracing->set) && !tracing->programs.ctx.opts->fds)
		log_silent(tracing, calls);
	process_set_describe_later(&tracing->set);
	process_set_forget_ended(&tracing->set);
	process_set_purge(&tracing->set);
	probe_sweep_run(&tracing->sweep, &tracing->set);
	symbolizer__close_unmapped(tracing->programs.ctx.symbolizer);
	walker_spaces_drop_unused(&tracing->programs.deferred.walker);
}
