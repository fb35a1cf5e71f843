// SPDX-License-Identifier: GPL-2.0-or-later
/* The user source: loads the programs, opens the processes, and hands out snapshots. */
#include "loader/user_source.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "loader/entry_programs.h"
#include "loader/log.h"
#include "loader/map_events.h"
#include "loader/risks.h"
#include "loader/user_source_impl.h"

/* A process that is still loading its libraries is looked at again after so long. */
#define RETRY_NS 5000000L
/* Late stacks of each process that are finished in one go: new code is more urgent. */
#define LATE_AT_ONCE 32

/* So often; then when it says that it has loaded some. */
#define RETRIES_MAX 400
/* So often before tracing begins anyway. */
#define START_RETRIES 100

static struct user_source *user_source_of(struct source *source)
{
	return (struct user_source *)source;
}

struct user_process *user_source__process(struct user_source *source, uint32_t image)
{
	return process_table_find(&source->processes, image);
}

void user_source__retry_soon(struct user_source *source)
{
	struct itimerspec soon = {.it_value = {.tv_nsec = RETRY_NS}};

	timerfd_settime(source->retry_fd, 0, &soon, NULL);
}

/* Probes what a process has mapped since; a failure shows at the next event of the process. */
void user_source__retry(struct user_source *source)
{
	for (size_t i = 0; i < source->processes.cnt; i++) {
		struct user_process *process = source->processes.items[i];

		if (process->attached || process->gone || process->ended ||
		    process->tries >= RETRIES_MAX)
			continue;
		process->tries++;
		if (user_process__attach(&source->ctx, process) == -EAGAIN)
			user_source__retry_soon(source);
		/* Libraries unloaded before the hook was probed went unseen. */
		user_process__refresh(&source->ctx, process);
	}
}

static int watch(struct user_source *source, int fd, struct user_process *process)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = process};

	return epoll_ctl(source->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_rings(struct user_source *source)
{
	int err;

	source->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	source->retry_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (source->epoll_fd < 0 || source->retry_fd < 0)
		return -errno;
	err = user_records__open(source);
	if (!err)
		err = watch(source, ring_buffer__epoll_fd(source->rings), NULL);
	if (!err)
		err = watch(source, source->retry_fd, NULL);
	if (!err)
		err = watch(source, stack_copies_poll_fd(&source->copies), NULL);
	if (!err && source->ctx.map_events)
		err = watch(source, map_events__poll_fd(source->ctx.map_events), NULL);
	if (!err && source->members.rule.by_cgroup)
		err = user_cgroup__open(source);
	return err;
}

/* Each process that is traced takes a few files. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* A process that was met while it loads its libraries is given the time to finish. */
static int attach_process(struct user_source *source, struct user_process *process)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	int err;

	for (int i = 0; i < START_RETRIES; i++) {
		err = user_process__attach(&source->ctx, process);
		if (err != -EAGAIN)
			return err;
		nanosleep(&pause, NULL);
	}
	log_note("process %d is still loading its libraries: more probes may follow",
		 process->info.pid);
	user_source__retry_soon(source);
	return 0;
}

int user_source__add(struct user_source *source, struct user_process *process)
{
	int err = process_table_add(&source->processes, process);

	if (err) {
		user_process__free(process);
		return err;
	}
	shares_begin(&source->tracker.shares, process->info.image);
	/* What one that has ended has unloaded is told with its end. */
	if (!process->ended)
		user_process__refresh(&source->ctx, process);
	return process->pidfd < 0 ? 0 : watch(source, process->pidfd, process);
}

static int add_given(struct user_source *source, pid_t pid)
{
	struct memleak_target target = {.image = user_members__number(source)};
	struct user_process *process;
	uint32_t key = (uint32_t)pid;
	int err = user_process__new(&source->ctx, pid, false, &process);

	if (err)
		return err;
	process->info.image = target.image;
	err = user_source__add(source, process);
	if (err)
		return err;
	if (bpf_map_update_elem(bpf_map__fd(source->ctx.skel->maps.targets), &key, &target,
				BPF_ANY))
		return -errno;
	return attach_process(source, process);
}

static void user_source__describe(const struct source *base)
{
	const struct user_source *source = (const struct user_source *)base;

	for (size_t i = 0; i < source->processes.cnt; i++) {
		const struct user_process *process = source->processes.items[i];
		const struct probe_set *set =
			source->ctx.pool ? &source->pool.probes : &process->probes;

		if (!process->found)
			log_note("tracing pid %d (%s): %zu functions probed in %s",
				 process->info.pid, process->info.comm, set->cnt,
				 process->allocator);
	}
	if (source->members.rule.join)
		user_members__describe(source);
}

static int user_source__start(struct source *base)
{
	struct user_source *source = user_source_of(base);
	int err = 0;

	for (size_t i = 0; i < source->processes.cnt; i++)
		if (!source->processes.items[i]->found)
			user_process__refresh(&source->ctx, source->processes.items[i]);
	tracker_start(&source->tracker);
	if (source->ctx.opts->count_by)
		err = user_count__start(source);
	source->ctx.skel->bss->tracking = true;
	return err;
}

static int user_source__poll_fd(const struct source *base)
{
	return ((const struct user_source *)base)->epoll_fd;
}

static bool is_image(void *arg, uint32_t image)
{
	return user_source__process(arg, image) != NULL;
}

static int user_source__dispatch(struct source *base, const struct event_listener *listener)
{
	struct user_source *source = user_source_of(base);
	struct epoll_event events[16];
	uint64_t expirations;
	int cnt, err;

	cnt = epoll_wait(source->epoll_fd, events, 16, 0);
	for (int i = 0; i < cnt; i++) {
		struct user_process *process = events[i].data.ptr;

		if (!process)
			continue;
		process->gone = true;
		epoll_ctl(source->epoll_fd, EPOLL_CTL_DEL, process->pidfd, NULL);
	}
	if (read(source->retry_fd, &expirations, sizeof(expirations)) > 0)
		user_source__retry(source);
	if (source->ctx.map_events)
		map_events__consume(source->ctx.map_events);
	if (source->cgroup_fd >= 0)
		user_cgroup__check(source);
	stack_copies_consume(&source->copies);
	err = user_records__consume(source, listener);
	user_members__end_gone(source);
	user_records__finish_stacks(source, LATE_AT_ONCE);
	/* Whoever executed a program told so before its first stack came. */
	unwind_late_drop(&source->copies.late, is_image, source);
	if (source->copies.late.waiting_cnt)
		user_source__retry_soon(source);
	return err ? err : user_peak__watch(source);
}

static bool user_source__ended(const struct source *base)
{
	const struct user_source *source = (const struct user_source *)base;

	if (source->members.rule.join)
		return false;
	for (size_t i = 0; i < source->processes.cnt; i++)
		if (!source->processes.items[i]->ended)
			return false;
	return true;
}

static int user_source__snapshot(struct source *base, struct snapshot *ret)
{
	struct user_source *source = user_source_of(base);
	int err = source->ctx.opts->peak ? user_peak__report(source) : 0;

	if (source->ctx.opts->count_by)
		return user_count__take(source, ret);
	if (!err)
		err = user_snapshot__take(source, ret);
	if (!err && source->ctx.opts->peak)
		ret->peak = &source->peak.kept;
	return err;
}

static uint64_t user_source__set_baseline(struct source *base, uint64_t now_ns)
{
	return tracker_set_baseline(&user_source_of(base)->tracker, now_ns);
}

/* Emptiness has reasons; the reader should not have to guess that there is one. */
static void say_silent(struct user_source *source, const struct snapshot *snap)
{
	if (snap->calls != source->reported_calls)
		source->told_silent = false;
	else if (!source->told_silent) {
		log_note("no allocator call was seen in this interval: the process is idle, or "
			 "uses an allocator that is not probed (-v lists the probed functions)");
		source->told_silent = true;
	}
	source->reported_calls = snap->calls;
}

static void user_source__reported(struct source *base, const struct snapshot *snap)
{
	struct user_source *source = user_source_of(base);

	if (!user_source__ended(base))
		say_silent(source, snap);
	for (size_t i = 0; i < source->processes.cnt;) {
		struct user_process *process = source->processes.items[i];

		if (process->ended && !user_source__ended(base))
			user_members__remove(source, i);
		else
			i++;
	}
	user_members__purge(source);
	if (source->ctx.pool)
		user_pool__sweep(source);
}

static void user_source__free(struct source *base)
{
	struct user_source *source = user_source_of(base);

	if (!source)
		return;
	process_table_deinit(&source->processes);
	probe_pool_deinit(&source->pool);
	/* The probes are gone: no more stacks come. */
	if (source->copies.check && source->ctx.skel->bss->tracking) {
		stack_copies_drain(&source->copies);
		unwind_check__finish(source->copies.check, source->copies.late.finished);
	}
	stack_copies_deinit(&source->copies);
	bpf_link__destroy(source->exec_link);
	bpf_link__destroy(source->fork_link);
	bpf_link__destroy(source->exit_link);
	bpf_link__destroy(source->move_link);
	bpf_link__destroy(source->mkdir_link);
	ring_buffer__free(source->rings);
	entry_programs__free(source->ctx.programs.entries);
	user_bpf__destroy(source->ctx.skel);
	unwind_maps_deinit(&source->unwind);
	tracker_deinit(&source->tracker);
	peak_deinit(&source->peak.kept);
	user_count__deinit(&source->count);
	heirs_deinit(&source->heirs);
	image_set_deinit(&source->gone);
	image_set_deinit(&source->mapped);
	members_deinit(&source->members);
	map_events__free(source->ctx.map_events);
	if (source->epoll_fd >= 0)
		close(source->epoll_fd);
	if (source->retry_fd >= 0)
		close(source->retry_fd);
	if (source->cgroup_fd >= 0)
		close(source->cgroup_fd);
	free(source);
}

static const struct source_ops user_source_ops = {
	.start = user_source__start,
	.describe = user_source__describe,
	.poll_fd = user_source__poll_fd,
	.dispatch = user_source__dispatch,
	.ended = user_source__ended,
	.snapshot = user_source__snapshot,
	.set_baseline = user_source__set_baseline,
	.reported = user_source__reported,
	.free = user_source__free,
};

int user_source__new(const struct options *opts, struct symbolizer *symbolizer, const pid_t *pids,
		     size_t pid_cnt, struct source **ret)
{
	struct user_source *source = calloc(1, sizeof(*source));
	size_t found_cnt;
	int err = 0;

	if (!source)
		return -ENOMEM;
	source->source.ops = &user_source_ops;
	source->source.symbols = &source->symbols;
	source->symbols = user_symbols;
	source->ctx = (struct user_context){
		.opts = opts,
		.symbolizer = symbolizer,
		.unwind = &source->unwind,
		.copies = &source->copies,
	};
	source->purge_at = 1;
	source->epoll_fd = source->retry_fd = source->cgroup_fd = -1;
	if (options_share_probes(opts) && !opts->force)
		err = risks_check_shared();
	if (!err)
		err = members_init(&source->members, opts);
	if (!err && options_share_probes(opts)) {
		source->pool.probes.binding = MEMLEAK_ANY_BINDING;
		source->ctx.pool = &source->pool;
		allow_files();
		err = map_events__new(&source->ctx.map_events);
		if (err)
			log_error("cannot hear of what processes map: %s", strerror(-err));
	}
	if (!err)
		err = user_loading__load(source, pid_cnt);
	if (!err)
		err = open_rings(source);
	if (!err)
		err = user_loading__attach_lifecycle(source);
	for (size_t i = 0; !err && i < pid_cnt; i++)
		err = add_given(source, pids[i]);
	if (!err && source->members.rule.join)
		err = user_members__find(source, &found_cnt);
	if (err) {
		user_source__free(&source->source);
		return err;
	}
	*ret = &source->source;
	return 0;
}
