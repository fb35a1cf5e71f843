// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds processes, follows them through fork, exec and exit, and drops the data of ended processes.
 */
#include "loader/user/process_set.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limited_call.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/proc_maps.h"
#include "base/signals.h"
#include "loader/tables/script_frames.h"
#include "loader/target/map_events.h"
#include "loader/user/attach.h"

/* Delay before a process that is still loading its libraries is searched again, in nanoseconds. */
#define RETRY_NS 5000000L
/*
 * Delay, in nanoseconds, before a process whose files were postponed, or whose mappings were read
 * too recently, is searched again.
 */
#define POSTPONED_RETRY_NS 100000000L
/*
 * Maximum attach retries by timer. After that, a process is retried only when its loader hook
 * fires.
 */
#define RETRIES_MAX 400
/* Maximum attach attempts for each process before tracing begins. */
#define START_RETRIES 100
/*
 * A purge walks over all blocks, so it normally runs only at a report. It runs earlier if the
 * blocks of images that ended since the last purge may fill 1/PURGE_PART of the block table, or if
 * there are about PURGE_AT such images: their sites also use memory.
 */
#define PURGE_PART 8
#define PURGE_AT 1024
/* Maximum time for reading the names of one stack's script frames, in nanoseconds. */
#define SCRIPTS_NS 200000000ULL

int process_set_init(struct process_set *set, struct user_programs *programs,
		     const struct options *opts)
{
	*set = (struct process_set){
		.programs = programs,
		.purge_threshold = 1,
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
		.retry_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
	};
	if (set->epoll_fd < 0 || set->retry_fd < 0 || process_set_watch(set, set->retry_fd, NULL))
		return -errno;
	return target_filter_init(&set->filter, opts);
}

void process_set_deinit(struct process_set *set)
{
	process_table_deinit(&set->table);
	image_set_deinit(&set->gone);
	image_set_deinit(&set->mapped);
	machine_deinit(&set->machine);
	target_filter_deinit(&set->filter);
	if (set->epoll_fd >= 0)
		close(set->epoll_fd);
	if (set->retry_fd >= 0)
		close(set->retry_fd);
	set->epoll_fd = set->retry_fd = -1;
}

int process_set_watch(struct process_set *set, int fd, struct user_process *process)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = process};

	return epoll_ctl(set->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

struct user_process *process_set_process(struct process_set *set, uint32_t image)
{
	return process_table_find(&set->table, image);
}

bool process_set_owner(void *arg, uint32_t image, struct block_owner *ret)
{
	struct user_process *process = process_set_process(arg, image);

	if (!process)
		return false;
	*ret = (struct block_owner){.process = &process->info,
				    .ended = process->ended || process->at_end,
				    .too_young = &process->too_young};
	return true;
}

bool process_set_resolve(void *arg, uint32_t image, struct memleak_stack *stack)
{
	const struct process_set *set = arg;

	return code_history_resolve(&set->programs->unwind.history, image, stack);
}

int process_set_merge(void *arg, uint32_t image, const struct memleak_stack *stack,
		      const struct script_frames *scripts, uint64_t **ret, size_t *ret_cnt)
{
	struct process_set *set = arg;
	const struct user_process *process = process_set_process(set, image);
	struct scripts *known = &set->programs->unwind.scripts;
	uint32_t base = process ? process->base : 0;

	if (process)
		scripts_read(known, process->info.pid, image, base, scripts,
			     clock_deadline_ns(SCRIPTS_NS));
	return scripts_merge(known, image, base, stack, scripts, ret, ret_cnt);
}

void process_set_read_scripts(struct process_set *set, const struct user_process *process,
			      uint64_t id)
{
	const struct stack_table *stacks = &set->programs->tracker.stacks;
	cleanup_free struct memleak_stack *stack =
		malloc(sizeof(*stack) + stacks->depth * sizeof(uint64_t));
	struct script_frames scripts;

	if (!stack || !stack_table_find(stacks, id, stack))
		return;
	script_frames_take(stack, stacks->depth, &scripts);
	scripts_read(&set->programs->unwind.scripts, process->info.pid, process->info.image,
		     process->base, &scripts, clock_deadline_ns(SCRIPTS_NS));
}

static bool has_time(const struct process_set *set)
{
	return clock_left_ms(set->programs->ctx.deadline_ns) > 0;
}

bool process_set_ended(const struct process_set *set)
{
	if (set->filter.rule.join)
		return false;
	for (size_t i = 0; i < set->table.cnt; i++)
		if (!set->table.items[i]->ended)
			return false;
	return true;
}

void process_set_retry_soon(struct process_set *set)
{
	struct itimerspec soon = {.it_value = {.tv_nsec = RETRY_NS}};

	timerfd_settime(set->retry_fd, 0, &soon, NULL);
}

/* Starts the retry timer, unless it is running. */
static void retry_later(struct process_set *set)
{
	struct itimerspec armed = {0}, later = {.it_value = {.tv_nsec = POSTPONED_RETRY_NS}};

	timerfd_gettime(set->retry_fd, &armed);
	if (!armed.it_value.tv_sec && !armed.it_value.tv_nsec)
		timerfd_settime(set->retry_fd, 0, &later, NULL);
}

/*
 * True if the process's mappings should not be read now: they were read too recently, or it waits
 * for an unwind table. When the table is ready, the helper's socket wakes the main loop.
 */
static bool is_waiting(struct process_set *set, const struct user_process *process)
{
	const struct unwind_files *files = &set->programs->unwind.files;

	if (user_process__maps_are_recent(process, false)) {
		retry_later(set);
		return true;
	}
	if (!process->awaits_tables || !unwind_files_busy(files))
		return false;
	/* Fails harmlessly if already watched. */
	process_set_watch(set, unwinder__poll_fd(files->unwinder), NULL);
	return true;
}

/*
 * Reads the mappings of the process. If they were read too recently, or if time runs out, they are
 * read in a later iteration.
 */
static void refresh(struct process_set *set, struct user_process *process)
{
	if (user_process__maps_are_recent(process, true))
		process->changed = true;
	else
		user_process__refresh(&set->programs->ctx, process);
	if (process->changed && !is_waiting(set, process))
		process_set_retry_soon(set);
}

/*
 * True if the search for postponed files of the process is not due yet. Also starts the retry timer
 * for that search, unless the timer is running.
 */
static bool is_postponed(struct process_set *set, const struct user_process *process)
{
	if (clock_ns(CLOCK_MONOTONIC) >= process->retry_files_ns)
		return false;
	retry_later(set);
	return true;
}

static void retry_process(struct process_set *set, struct user_process *process)
{
	process->tries++;
	if (attach_process(&set->programs->ctx, process) == -EAGAIN && !process->retry_files_ns)
		process_set_retry_soon(set);
	if (process->retry_files_ns)
		process->tries = 0;
	is_postponed(set, process);
	/*
	 * Before the dynamic loader's hook was probed, libraries may have been unloaded unnoticed:
	 * read the mappings.
	 */
	if (!is_waiting(set, process))
		refresh(set, process);
}

/*
 * Probes the processes that are not fully probed yet. Processes that are still loading libraries,
 * or whose files are postponed, are tried again at a later call. Begins with the process at which
 * the last iteration ran out of time, so that no process is left out for good.
 */
static void retry(struct process_set *set)
{
	size_t cnt = set->table.cnt, first = cnt ? set->retry_at % cnt : 0;

	for (size_t i = 0; i < cnt; i++) {
		struct user_process *process = set->table.items[(first + i) % cnt];

		if (process->attached || process->gone_ns || process->ended ||
		    process->tries >= RETRIES_MAX ||
		    user_process__maps_are_recent(process, false) || is_postponed(set, process))
			continue;
		if (!has_time(set)) {
			set->retry_at = (first + i) % cnt;
			process_set_retry_soon(set);
			return;
		}
		retry_process(set, process);
	}
}

void process_set_poll(struct process_set *set)
{
	struct epoll_event events[16];
	int cnt = epoll_wait(set->epoll_fd, events, 16, 0);
	uint64_t expirations;

	unwind_files_poll(&set->programs->unwind.files);
	for (int i = 0; i < cnt; i++) {
		struct user_process *process = events[i].data.ptr;

		if (!process)
			continue;
		process->gone_ns = clock_ns(CLOCK_MONOTONIC);
		epoll_ctl(set->epoll_fd, EPOLL_CTL_DEL, process->pidfd, NULL);
	}
	if (read(set->retry_fd, &expirations, sizeof(expirations)) > 0)
		retry(set);
}

static uint32_t number(struct process_set *set)
{
	return MEMLEAK_IMAGE_GIVEN | ++set->given_images;
}

/*
 * Adds a process that is or will be a target, and takes ownership of it. Returns 0 or a negative
 * errno.
 */
static int add(struct process_set *set, struct user_process *process)
{
	int err = process_table_add(&set->table, process);

	if (err) {
		user_process__free(process);
		return err;
	}
	quotas_begin(&set->programs->tracker.quotas, process->info.image);
	user_process__begin_fds(&set->programs->ctx, process);
	/*
	 * Do not read the mappings of an ended process here: without its unload count, which may be
	 * gone, stale mappings would be taken for current ones. process_set_end() reads them if
	 * still needed, with the count from the end record.
	 */
	if (!process->gone_ns)
		refresh(set, process);
	return process->pidfd < 0 ? 0 : process_set_watch(set, process->pidfd, process);
}

/*
 * Probes a process given by -p. If the process is still loading its libraries, waits a limited time
 * for them. Does not wait for a process whose mappings cannot be read.
 */
static int attach_given(struct process_set *set, struct user_process *process)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	int err;

	for (int i = 0; !i || (i < START_RETRIES && has_time(set)); i++) {
		err = attach_process(&set->programs->ctx, process);
		if (err != -EAGAIN)
			return err;
		if (process->logged_locked)
			break;
		nanosleep(&pause, NULL);
	}
	if (!process->logged_locked)
		log_note("process %d is still loading its libraries: more probes may follow",
			 process->info.pid);
	process_set_retry_soon(set);
	return 0;
}

static int targets_fd(const struct process_set *set)
{
	return bpf_map__fd(set->programs->ctx.skel->maps.targets);
}

/* True if the pid is a target and runs this image. The pid may belong to a new process by now. */
static bool is_target(const struct process_set *set, pid_t pid, uint32_t image)
{
	struct memleak_target target;
	uint32_t key = (uint32_t)pid;

	return !bpf_map_lookup_elem(targets_fd(set), &key, &target) && target.image == image;
}

/*
 * Makes a process (pid) a target if it runs in the memory of another target (owner), as after
 * vfork(). Its allocations belong to the owner. Returns false if the process runs in other memory,
 * or the owner is no target.
 */
static bool add_sharer(struct process_set *set, pid_t pid, pid_t owner)
{
	uint32_t key = (uint32_t)pid, owner_key = (uint32_t)owner;
	struct memleak_target target;

	if (!proc_share_memory(owner, pid) ||
	    bpf_map_lookup_elem(targets_fd(set), &owner_key, &target) || !target.image)
		return false;
	target.shares_memory = 1;
	target.exec_cnt = 0;
	if (set->programs->ctx.skel->rodata->config.bound)
		target.binding = MEMLEAK_SHARES_MEMORY;
	bpf_map_update_elem(targets_fd(set), &key, &target, BPF_NOEXIST);
	/*
	 * If the process ended or ran exec before it became a target, no record reports that, and
	 * it would stay a target: check again.
	 */
	if (!proc_share_memory(owner, pid) && is_target(set, pid, target.image))
		bpf_map_delete_elem(targets_fd(set), &key);
	return true;
}

/*
 * Attaches probes for `sharer`, a process that runs in the memory of `process`, unless such probes
 * exist. Does nothing if all processes share probes, or with --count, whose probes fire only in
 * `process`.
 */
static void probe_sharer(struct process_set *set, struct user_process *process, pid_t sharer)
{
	const struct user_context *ctx = &set->programs->ctx;
	int err;

	if (process->probes.has_sharers || ctx->entries_only || ctx->shared)
		return;
	err = probe_set_add_sharers(&process->probes, &ctx->programs);
	if (err)
		log_note("cannot probe process %d: %s", sharer, strerror(-err));
	else
		log_note("process %d shares the memory of process %d and is traced with it", sharer,
			 process->info.pid);
}

void process_set_add_sharer(struct process_set *set, struct user_process *process, pid_t sharer)
{
	set->processes_lost +=
		!process->probes.has_sharers && set->programs->ctx.skel->rodata->config.bound;
	probe_sharer(set, process, sharer);
}

bool process_set_has_sharer(const struct process_set *set, pid_t pid)
{
	struct memleak_target target;
	uint32_t key = (uint32_t)pid;

	return !bpf_map_lookup_elem(targets_fd(set), &key, &target) && target.shares_memory;
}

/* The processes given by -p, in whose memory other processes may run. */
struct memory_owners {
	struct process_set *set;
	pid_t *tids; /* for each process of set->table: a thread with its memory, or 0 */
};

/*
 * Makes a process a target if it runs in the memory of a process given by -p. Returns false if it
 * runs in other memory, or is the given process itself.
 */
static bool add_if_sharer(const struct memory_owners *owners, pid_t pid)
{
	struct process_set *set = owners->set;
	size_t at = proc_find_memory(pid, owners->tids, set->table.cnt);
	struct user_process *owner;

	if (at == set->table.cnt)
		return false;
	owner = set->table.items[at];
	if (owner->info.pid == pid || !add_sharer(set, pid, owner->info.pid))
		return false;
	probe_sharer(set, owner, pid);
	return true;
}

static int visit_sharer(void *arg, pid_t pid)
{
	add_if_sharer(arg, pid);
	return 0;
}

static int add_pid(struct memory_owners *owners, pid_t pid)
{
	struct process_set *set = owners->set;
	struct memleak_target target = {.image = number(set)};
	struct user_process *process;
	uint32_t key = (uint32_t)pid;
	int err;

	if (add_if_sharer(owners, pid))
		return 0;
	err = user_process__new(&set->programs->ctx, pid, false, &process);
	if (err)
		return err;
	process->info.image = target.image;
	err = add(set, process);
	if (err)
		return err;
	if (bpf_map_update_elem(targets_fd(set), &key, &target, BPF_ANY))
		return -errno;
	owners->tids[set->table.cnt - 1] = proc_memory_thread(pid);
	return attach_given(set, process);
}

int process_set_add_pids(struct process_set *set, const pid_t *pids, size_t cnt)
{
	cleanup_free pid_t *tids = calloc(cnt, sizeof(*tids));
	struct memory_owners owners = {set, tids};
	bool found_locked = false;
	int err = tids || !cnt ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < cnt && !signals_end_pending(); i++) {
		err = add_pid(&owners, pids[i]);
		if (!found_locked && limited_calls_are_blocked()) {
			proc_maps_find_locked(&pids[i + 1], cnt - i - 1);
			found_locked = true;
		}
	}
	/* Processes that are forked after their owners became targets are reported by records. */
	return err || !cnt ? err : proc_visit(visit_sharer, &owners);
}

/* Marks an image as ended, so that the next purge deletes its data. */
static void drop(struct process_set *set, uint32_t image)
{
	if (image_set_has(&set->gone, image))
		return;
	/* If out of memory, the data of the image is never deleted. */
	image_set_add(&set->gone, image);
	set->gone_blocks += tracker_block_cnt(&set->programs->tracker, image);
}

/* Purges if ended images have much data, as the next report may be far away. */
static void purge_if_due(struct process_set *set)
{
	uint32_t most = set->programs->ctx.skel->rodata->config.max_allocs;

	if (set->gone.cnt >= set->purge_threshold || set->gone_blocks >= most / PURGE_PART)
		process_set_purge(set);
}

/* Frees the process at an index, and adds its losses to the totals. */
static void forget_process(struct process_set *set, size_t at)
{
	const struct user_process *process = set->table.items[at];

	set->mappings_lost += process->mappings_lost + process->ranges.lost;
	set->exec_gaps += process->exec_gaps;
	set->processes_lost += process->late;
	drop(set, process->info.image);
	process_table_remove(&set->table, at);
}

/* Removes the process at an index, which has ended. */
static void remove_process(struct process_set *set, size_t at)
{
	pid_t pid = set->table.items[at]->info.pid;

	forget_process(set, at);
	if (process_table_find_pid(&set->table, pid))
		return;
	unwind_spaces_forget(&set->programs->unwind, pid);
	walker_spaces_forget(&set->programs->deferred.walker, pid);
	if (set->programs->ctx.map_events)
		map_events__forget(set->programs->ctx.map_events, pid);
}

/* Counts a process that could not be opened, unless it has ended or is a kernel thread. */
static void count_skipped(struct process_set *set, pid_t pid, int err)
{
	if (err == -ENOEXEC) {
		set->skipped_32bit_cnt++;
	} else if (err != -ESRCH && err != -ENOENT) {
		set->unopened_cnt++;
		set->unopened_pid = pid;
		set->unopened_err = err;
	}
}

/*
 * Adds a process that was found in /proc. If it runs in the memory of a traced parent, only makes
 * it a target. Does nothing if it is already a target: the BPF programs then sent a record.
 */
static void add_member(struct process_set *set, const struct member *member)
{
	struct memleak_target target = {.image = number(set)}, known;
	uint32_t key = (uint32_t)member->pid;
	struct user_process *process;
	int err;

	if (member->own) {
		target.image = 0;
		bpf_map_update_elem(targets_fd(set), &key, &target, BPF_ANY);
		return;
	}
	if (!bpf_map_lookup_elem(targets_fd(set), &key, &known) ||
	    add_sharer(set, member->pid, member->parent))
		return;
	err = user_process__new(&set->programs->ctx, member->pid, true, &process);
	if (err) {
		count_skipped(set, member->pid, err);
		return;
	}
	process->info.image = target.image;
	if (add(set, process))
		return;
	if (bpf_map_update_elem(targets_fd(set), &key, &target, BPF_NOEXIST)) {
		process->ended = true;
		remove_process(set, set->table.cnt - 1);
		return;
	}
	if (attach_process(&set->programs->ctx, process) == -EAGAIN)
		process_set_retry_soon(set);
}

/* Calls proc_maps_find_locked() for the listed processes. If out of memory, does nothing. */
static void find_locked(const struct member *members, size_t cnt)
{
	cleanup_free pid_t *pids = calloc(cnt, sizeof(*pids));

	for (size_t i = 0; pids && i < cnt; i++)
		pids[i] = members[i].pid;
	if (pids)
		proc_maps_find_locked(pids, cnt);
}

/*
 * Adds the listed processes except memleak's own, and returns their number. Excludes memleak's
 * processes first, so that their children are never traced.
 */
static size_t add_members(struct process_set *set, const struct member *members, size_t cnt)
{
	bool found_locked = false;
	size_t added = 0;

	for (size_t i = 0; i < cnt; i++)
		if (members[i].own)
			add_member(set, &members[i]);
	for (size_t i = 0; i < cnt && !signals_end_pending(); i++) {
		if (members[i].own)
			continue;
		add_member(set, &members[i]);
		added++;
		if (!found_locked && limited_calls_are_blocked()) {
			find_locked(&members[i + 1], cnt - i - 1);
			found_locked = true;
		}
	}
	return added;
}

int process_set_find(struct process_set *set, size_t *ret)
{
	cleanup_free struct member *members = NULL;
	size_t cnt = 0;
	int err = target_filter_find(&set->filter, &members, &cnt);

	*ret = add_members(set, members, cnt);
	return err;
}

/*
 * Searches until no new process is found: a descendant may fork before it becomes a target. The BPF
 * programs report children that are forked later.
 */
int process_set_find_children(struct process_set *set, const pid_t *pids, size_t pid_cnt)
{
	size_t before;
	int err;

	do {
		cleanup_free struct member *members = NULL;
		size_t cnt = 0;

		before = set->table.cnt;
		err = target_filter_find_descendants(pids, pid_cnt, &members, &cnt);
		if (!err)
			add_members(set, members, cnt);
	} while (!err && set->table.cnt > before && !signals_end_pending());
	return err;
}

/*
 * True if no allocator function was found in a static program. Its file then has no symbols, or the
 * program has no malloc, as with Go.
 */
static bool is_unknown_static(const struct user_process *process)
{
	return process->found && process->attached && !process->changed && !process->allocator &&
	       !process->r_debug && !process->logged_unread;
}

/*
 * Logs which static programs have unknown allocators, except those logged before. Returns true if
 * there are any. verbose: log only with -v.
 */
static bool describe_static(const struct process_set *set, bool verbose)
{
	const struct options *opts = set->programs->ctx.opts;
	size_t cnt = 0;
	pid_t pid = 0;

	if (opts->fds || opts->object || opts->symbols_prefix)
		return false;
	for (size_t i = 0; i < set->table.cnt; i++) {
		struct user_process *process = set->table.items[i];

		if (!is_unknown_static(process) || process->logged_static)
			continue;
		process->logged_static = true;
		pid = process->info.pid;
		cnt++;
	}
	if (cnt == 1)
		(verbose ? log_verbose : log_note)(
			"process %d is statically linked and has no symbols of allocator "
			"functions: its allocations are not traced",
			pid);
	else if (cnt)
		(verbose ? log_verbose : log_note)(
			"%zu processes, such as %d, are statically linked and have no symbols of "
			"allocator functions: their allocations are not traced",
			cnt, pid);
	return cnt;
}

void process_set_describe_later(struct process_set *set)
{
	set->logged_static |= describe_static(set, set->logged_static);
}

void process_set_describe_skipped(const struct process_set *set)
{
	size_t unread_cnt = 0, moved_cnt = 0;

	for (size_t i = 0; i < set->table.cnt; i++) {
		unread_cnt += set->table.items[i]->logged_unread;
		moved_cnt += set->table.items[i]->logged_moved;
	}
	if (moved_cnt)
		log_note("%zu process%s an allocator in anonymous memory, where no probes can be "
			 "placed: its calls are not seen (see -v)",
			 moved_cnt, moved_cnt == 1 ? " has" : "es have");
	if (unread_cnt)
		log_note("%zu process%s %s files that memleak cannot read: if they define malloc, "
			 "its calls are not seen (-v lists them)",
			 unread_cnt, unread_cnt == 1 ? "" : "es", unread_cnt == 1 ? "has" : "have");
	if (set->skipped_32bit_cnt)
		log_note("%zu 32-bit program%s not traced: memleak traces only 64-bit programs",
			 set->skipped_32bit_cnt, set->skipped_32bit_cnt == 1 ? " is" : "s are");
	if (set->unopened_cnt == 1)
		log_note("process %d is not traced: %s", set->unopened_pid,
			 strerror(-set->unopened_err));
	else if (set->unopened_cnt)
		log_note("%zu processes, such as %d, are not traced: %s", set->unopened_cnt,
			 set->unopened_pid, strerror(-set->unopened_err));
	describe_static(set, false);
}

void process_set_describe(const struct process_set *set)
{
	const struct options *opts = set->programs->ctx.opts;
	size_t probe_cnt = set->programs->shared.probes.cnt;
	size_t file_cnt = shared_probes_heaps(&set->programs->shared);
	cleanup_free char *probes = NULL;

	if (!opts->fds &&
	    asprintf(&probes, ": %zu function%s probed in %zu file%s", probe_cnt,
		     probe_cnt == 1 ? "" : "s", file_cnt, file_cnt == 1 ? "" : "s") < 0)
		probes = NULL;
	log_note("tracing %s%zu process%s%s%s%s%s, and those that begin later%s",
		 opts->fds ? "descriptors of " : "", set->table.cnt,
		 set->table.cnt == 1 ? "" : "es", opts->comm ? " named " : "",
		 opts->comm ? opts->comm : "", opts->cgroup ? " of cgroup " : "",
		 opts->cgroup ? set->filter.cgroup.path : "", probes ? probes : "");
	if (opts->comm && !set->table.cnt)
		log_note(
			"no process is named %s yet; waiting (ps -e -o comm lists names, cut at 15 "
			"bytes)",
			opts->comm);
	process_set_describe_skipped(set);
}

/* Marks the earlier process with this pid as ended, because a new process has the pid now. */
static void end_others(struct process_set *set, pid_t pid)
{
	struct user_process *process = process_table_find_pid(&set->table, pid);

	if (process)
		process->ended = true;
}

/*
 * Opens the process that a record reports. If the process has ended, ends while it is being read,
 * or could not be read in the middle of an exec, opens it from the kernel's records of its
 * mappings. In the last case it still runs, so its pidfd is watched.
 */
static int open_process(const struct process_set *set, const struct memleak_record *record,
			uint32_t image, const struct user_process *parent,
			struct user_process **ret)
{
	pid_t pid = (pid_t)record->tgid;
	int err = user_process__new(&set->programs->ctx, pid, true, ret);

	if (err == -ENOMEM || err == -ENOEXEC)
		return err;
	if (!err && is_target(set, pid, image)) {
		(*ret)->since_ns = record->time_ns;
		return 0;
	}
	if (!err)
		user_process__free(*ret);
	err = user_process__new_ended(&set->programs->ctx, pid, record->time_ns, parent, ret);
	if (!err && is_target(set, pid, image))
		user_process__watch(*ret);
	return err;
}

/*
 * Sets the process's cgroup if it could not be read because the process has ended. cgroup: the
 * cgroup of the parent, or the cgroup before the exec.
 */
static void keep_cgroup(struct user_process *process, const char *cgroup)
{
	if (!process->info.cgroup && cgroup)
		process->info.cgroup = strdup(cgroup);
}

/*
 * Stops tracing a process that cannot be opened, and counts it as lost. 32-bit programs, which are
 * never traced, do not count.
 */
static void miss_process(struct process_set *set, const struct memleak_record *record,
			 uint32_t image, int err)
{
	uint32_t key = record->tgid;

	if (is_target(set, (pid_t)key, image))
		bpf_map_delete_elem(targets_fd(set), &key);
	drop(set, image);
	purge_if_due(set);
	set->processes_lost += err != -ENOEXEC;
}

void process_set_new(struct process_set *set, const struct memleak_record *record, uint32_t image,
		     uint32_t base)
{
	const struct user_process *parent = process_set_process(set, base);
	bool descendant = set->programs->tracker.descendants && base && record->len;
	struct user_process *process;
	int err;

	end_others(set, (pid_t)record->tgid);
	if (descendant &&
	    inheritance_fork(&set->programs->descendants.inheritance, base, image, record->time_ns))
		set->programs->descendants.lost++;
	err = open_process(set, record, image, parent, &process);
	if (err) {
		miss_process(set, record, image, err);
		return;
	}
	if (parent)
		keep_cgroup(process, parent->info.cgroup);
	process->info.image = image;
	process->base = base;
	if (parent)
		process->r_debug = parent->r_debug;
	/*
	 * If the parent is unknown, or if out of memory, the inherited mappings are unknown: count
	 * them as lost.
	 */
	if (descendant && (!parent || ranges_inherit(&process->ranges, &parent->ranges, base)))
		process->mappings_lost++;
	process->after_exec = !base;
	if (add(set, process) || process->gone_ns)
		return;
	if (attach_process(&set->programs->ctx, process) == -EAGAIN)
		process_set_retry_soon(set);
}

/*
 * Handles an end record. If the process was found by a filter and never fully probed, reads its
 * mappings and probes the files that it had mapped. A process given by -p is marked as ended only
 * after its pidfd has reported the end: until then, the kernel may still be freeing the process's
 * memory.
 */
void process_set_end(struct process_set *set, struct user_process *process, uint32_t unloads)
{
	process->is_no_target = true;
	process->unloads = unloads;
	process->ended = process->found || process->gone_ns;
	if (!process->found || process->attached)
		return;
	refresh(set, process);
	attach_ended(&set->programs->ctx, process);
}

/*
 * Also handles processes without an end record: such records can be lost, and the kernel can skip
 * the BPF program that sends them. Marks a process as ended only after all records from before its
 * end have been applied.
 */
void process_set_end_gone(struct process_set *set)
{
	for (size_t i = 0; i < set->table.cnt; i++) {
		struct user_process *process = set->table.items[i];
		uint32_t key = (uint32_t)process->info.pid;
		struct memleak_target target = {0};

		if (!process->gone_ns || process->ended)
			continue;
		if (process->gone_ns > set->programs->descendants.records_until_ns) {
			process_set_retry_soon(set);
			continue;
		}
		bpf_map_lookup_elem(targets_fd(set), &key, &target);
		if (target.image == process->info.image)
			bpf_map_delete_elem(targets_fd(set), &key);
		process_set_end(set, process,
				process->is_no_target ? process->unloads : target.unloads);
	}
}

void process_set_remove(struct process_set *set, struct user_process *process)
{
	for (size_t i = 0; i < set->table.cnt; i++) {
		if (set->table.items[i] != process)
			continue;
		unwind_spaces_forget(&set->programs->unwind, process->info.pid);
		forget_process(set, i);
		purge_if_due(set);
		return;
	}
}

/* Opens a process again after exec. process: its state before the exec, NULL if it was unknown. */
static void replace(struct process_set *set, struct user_process *process,
		    const struct memleak_record *record)
{
	cleanup_free char *cgroup = NULL;

	if (process && process->info.cgroup)
		cgroup = strdup(process->info.cgroup);
	if (process)
		process_set_remove(set, process);
	process_set_new(set, record, (uint32_t)record->addr, 0);
	process = process_set_process(set, (uint32_t)record->addr);
	if (process)
		keep_cgroup(process, cgroup);
}

void process_set_exec(struct process_set *set, const struct memleak_record *record)
{
	const struct memleak_target_filter *rule = &set->filter.rule;
	struct user_process *process = process_set_process(set, record->image);
	/*
	 * If a thread other than the leader calls exec, that thread becomes the leader. Probes are
	 * bound to the task of the old leader, so they must be attached again.
	 */
	bool reattach = record->len;

	drop(set, record->image);
	purge_if_due(set);
	/* The record is about an earlier process whose pid was reused. */
	if (!process && !rule->join && !rule->follow)
		return;
	if (!process || process->found) {
		replace(set, process, record);
		return;
	}
	user_process__exec(&set->programs->ctx, process, (uint32_t)record->addr, record->time_ns,
			   reattach);
	process_table_change(&set->table);
	log_note("process %d executed another program: %s", process->info.pid, process->info.comm);
	retry(set);
}

static bool is_base(const struct process_set *set, uint32_t image)
{
	for (size_t i = 0; i < set->table.cnt; i++)
		if (set->table.items[i]->base == image)
			return true;
	return false;
}

static bool is_there(void *arg, uint32_t image)
{
	return process_set_process(arg, image) != NULL;
}

int process_set_find_descendants(struct process_set *set)
{
	return inheritance_update(&set->programs->descendants.inheritance, is_there, set);
}

/* Drops code mappings of ended images, except images whose children may still use them. */
static void drop_mappings(struct process_set *set)
{
	struct image_set kept = {0};

	for (size_t i = 0; i < set->mapped.cnt; i++) {
		uint32_t image = set->mapped.items[i];

		if (is_base(set, image))
			image_set_add(&kept, image);
		else
			unwind_spaces_drop(&set->programs->unwind, image);
	}
	image_set_deinit(&set->mapped);
	set->mapped = kept;
}

void process_set_purge(struct process_set *set)
{
	struct image_set kept = {0}, purged = {0};

	if (!set->gone.cnt || process_set_find_descendants(set)) {
		drop_mappings(set);
		return;
	}
	for (size_t i = 0; i < set->gone.cnt; i++) {
		uint32_t image = set->gone.items[i];
		bool needed =
			inheritance_is_ancestor(&set->programs->descendants.inheritance, image);

		image_set_add(needed ? &kept : &purged, image);
		image_set_add(&set->mapped, image);
	}
	tracker_purge(&set->programs->tracker, &purged);
	drop_mappings(set);
	image_set_deinit(&purged);
	image_set_deinit(&set->gone);
	set->gone = kept;
	set->gone_blocks = 0;
	set->purge_threshold = 2 * kept.cnt + PURGE_AT;
}

/* True if all processes had ended when the last report began, so that no further report follows. */
static bool all_marked_ended(const struct process_set *set)
{
	if (set->filter.rule.join)
		return false;
	for (size_t i = 0; i < set->table.cnt; i++)
		if (!set->table.items[i]->ended_before_report)
			return false;
	return true;
}

void process_set_forget_ended(struct process_set *set)
{
	if (all_marked_ended(set))
		return;
	for (size_t i = 0; i < set->table.cnt;)
		if (set->table.items[i]->ended_before_report)
			remove_process(set, i);
		else
			i++;
}

static void refresh_changed(struct process_set *set, struct user_process *process)
{
	process->changed = false;
	process->tries = 0;
	refresh(set, process);
	if (!process->attached || process->ended)
		return;
	if (is_postponed(set, process))
		process->changed = true;
	else
		attach_later(&set->programs->ctx, process);
}

/*
 * Reads each changed process once, even if several records reported changes. Begins with the
 * process at which the last iteration ran out of time, so that no process is left out for good.
 */
void process_set_refresh_changed(struct process_set *set)
{
	size_t cnt = set->table.cnt, first = cnt ? set->refresh_at % cnt : 0;
	bool again = false;

	for (size_t i = 0; i < cnt; i++) {
		struct user_process *process = set->table.items[(first + i) % cnt];

		if (!process->changed || is_waiting(set, process))
			continue;
		if (!has_time(set)) {
			set->refresh_at = (first + i) % cnt;
			process_set_retry_soon(set);
			break;
		}
		refresh_changed(set, process);
		/* If not fully probed yet, search again: more files may have been mapped. */
		again |= !is_postponed(set, process) && !process->attached;
	}
	if (again)
		retry(set);
}

/*
 * If time runs out, the next call begins with the remaining processes. Few changes are missed
 * meanwhile, since records normally report them.
 */
void process_set_refresh_given(struct process_set *set)
{
	size_t cnt = set->table.cnt, first = cnt ? set->given_at % cnt : 0;

	for (size_t i = 0; i < cnt; i++) {
		struct user_process *process = set->table.items[(first + i) % cnt];

		if (process->found || user_process__maps_are_recent(process, true))
			continue;
		if (!has_time(set)) {
			set->given_at = (first + i) % cnt;
			return;
		}
		refresh(set, process);
	}
}

void process_set_read_mappings(struct process_set *set)
{
	for (size_t i = 0; i < set->table.cnt; i++)
		user_process__read_mappings(&set->programs->ctx, set->table.items[i]);
}

void process_set_compare_mappings(struct process_set *set)
{
	for (size_t i = 0; i < set->table.cnt; i++)
		user_process__compare_mappings(set->table.items[i],
					       set->programs->descendants.records_until_ns);
}

void process_set_finish_stacks(struct process_set *set, size_t most)
{
	struct deferred_stacks *deferred = &set->programs->deferred;
	bool patient = most == SIZE_MAX;

	for (size_t i = 0; deferred->waiting_cnt && i < set->table.cnt; i++) {
		struct user_process *process = set->table.items[i];

		if (!deferred_stacks_is_waiting(deferred, process->info.image))
			continue;
		if (has_time(set) && (patient || !is_waiting(set, process)))
			refresh(set, process);
		user_process__finish_deferred(&set->programs->ctx, process, deferred, most);
	}
}

void process_set_mark_ended(struct process_set *set)
{
	for (size_t i = 0; i < set->table.cnt; i++)
		set->table.items[i]->ended_before_report = set->table.items[i]->ended;
}

void process_set_finish_all_stacks(struct process_set *set)
{
	deferred_stacks_consume(&set->programs->deferred);
	process_set_finish_stacks(set, SIZE_MAX);
	/* Read the mappings after the last stack was recorded and before frames are symbolized. */
	process_set_refresh_given(set);
}
