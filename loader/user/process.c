// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens a process, reads its mappings, and follows it through exec. */
#include "loader/user/process.h"

#include <bpf/bpf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limited_call.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/proc_maps.h"
#include "base/test_knobs.h"
#include "bpf/memleak.h"
#include "bpf/reading.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/probes/backing_inode.h"
#include "loader/probes/probe_safety.h"
#include "loader/stacks/deferred_stacks.h"
#include "loader/target/cgroups.h"
#include "loader/target/elf_class.h"
#include "loader/target/map_events.h"
#include "loader/target/modules.h"
#include "loader/target/open_fds.h"
#include "loader/target/opened_files.h"

/*
 * Minimum interval between reads of mappings only to compare them with tracked mappings, in
 * nanoseconds.
 */
#define COMPARE_EVERY_NS 1000000000ULL

/* Minimum interval between attempts to read mappings that cannot be read, in nanoseconds. */
#define LOCKED_INTERVAL_NS 100000000ULL

/*
 * Limit of maps_interval_ns, in nanoseconds, up to which mappings are read for a report even if
 * they were read recently.
 */
#define INTERVAL_IGNORED_NS 250000000ULL

static char *read_comm(pid_t pid)
{
	char *comm = proc_comm(pid);

	return comm ? comm : strdup("?");
}

/*
 * Checks that a process can be traced: kernel threads and zombies have no memory, hence no VmSize
 * line in /proc/PID/status.
 */
static int check_kind(pid_t pid, bool found)
{
	cleanup_free char *status = NULL;
	const char *state;
	long process;

	if (proc_read(pid, "status", &status))
		status = NULL;
	if (found)
		return status && proc_status_field(status, "VmSize") ? 0 : -ESRCH;
	if (!status) {
		log_error("no process with pid %d", pid);
		return -ESRCH;
	}
	process = proc_status_number(status, "Tgid");
	if (process != pid) {
		log_error("%d is a thread of process %ld: use -p %ld", pid, process, process);
		return -EINVAL;
	}
	state = proc_status_field(status, "State");
	if (state && (*state == 'Z' || *state == 'X')) {
		log_error("process %d has already ended", pid);
		return -ESRCH;
	}
	if (!proc_status_field(status, "VmSize")) {
		log_error("%d is a kernel thread: it has no allocator to trace", pid);
		return -EINVAL;
	}
	return 0;
}

static int check_class(pid_t pid, bool found)
{
	cleanup_close int path_fd = proc_open(pid, "exe", O_PATH);
	cleanup_close int fd = path_fd < 0 ? path_fd : process_open_program(pid);

	/* A process that waits in exec is checked no further. */
	if (path_fd == -EAGAIN)
		return 0;
	if (path_fd < 0) {
		if (!found)
			log_error("cannot open the program of process %d: %s%s", pid,
				  strerror(-path_fd),
				  path_fd == -EACCES || path_fd == -EPERM
					  ? " (a security module or a user namespace denies access)"
					  : "");
		return path_fd;
	}
	/*
	 * If the program file is unreadable, go on: other files of the process may be readable.
	 * attach_process() logs the unreadable file.
	 */
	if (fd < 0)
		return 0;
	if (elf_class(fd) == ELFCLASS32) {
		(found ? log_verbose : log_error)(
			"process %d is a 32-bit program: memleak traces only 64-bit programs", pid);
		return -ENOEXEC;
	}
	return 0;
}

static void init_ranges(struct ranges *ranges)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);

	ranges_init(ranges, page_size, (uint64_t)sysconf(_SC_PHYS_PAGES) * page_size);
}

int user_process__new(const struct user_context *ctx, pid_t pid, bool found,
		      struct user_process **ret)
{
	struct user_process *process;
	int err = check_kind(pid, found);

	if (!err)
		err = check_class(pid, found);
	if (!err && !found && !ctx->opts->force && !ctx->opts->fds)
		err = probe_safety_check(pid);
	if (err)
		return err;
	process = calloc(1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	init_ranges(&process->ranges);
	process->info.pid = pid;
	process->info.comm = read_comm(pid);
	if (options_want_cgroups(ctx->opts))
		process->info.cgroup = cgroup_of_process(pid);
	process->found = found;
	process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process->pidfd < 0 && !found) {
		err = -errno;
		log_error("cannot watch process %d: %s", pid, strerror(-err));
		goto err;
	}
	err = symspace__new(ctx->symbolizer, pid, &process->space);
	if (err) {
		if (!found)
			log_error("cannot read the mappings of process %d: %s", pid,
				  strerror(-err));
		goto err;
	}
	*ret = process;
	return 0;
err:
	user_process__free(process);
	return err;
}

int user_process__maps_from_records(const struct user_context *ctx,
				    const struct user_process *process, struct proc_maps *ret)
{
	if (!ctx->map_events)
		return -ENOENT;
	map_events__consume(ctx->map_events);
	return map_events__maps(ctx->map_events, process->info.pid, process->since_ns, ret);
}

static char *comm_from_records(const struct user_context *ctx, pid_t pid, uint64_t since_ns,
			       const struct user_process *parent)
{
	const char *comm = map_events__comm(ctx->map_events, pid, since_ns);

	if (!comm && parent)
		comm = parent->info.comm;
	return strdup(comm ? comm : "?");
}

/*
 * Opens the symbol space of an ended process. If the kernel's records do not contain the process's
 * mappings, uses the mappings of its parent.
 */
static int open_ended_space(const struct user_context *ctx, struct user_process *process,
			    const struct user_process *parent)
{
	struct proc_maps maps;
	int err = user_process__maps_from_records(ctx, process, &maps);

	if (err == -ENOENT && parent) {
		symspace__refresh(parent->space);
		return symspace__new_forked(parent->space, &process->space);
	}
	if (err)
		return err;
	err = symspace__new_ended(ctx->symbolizer, &maps, &process->space);
	proc_maps_deinit(&maps);
	return err;
}

int user_process__new_ended(const struct user_context *ctx, pid_t pid, uint64_t since_ns,
			    const struct user_process *parent, struct user_process **ret)
{
	struct user_process *process = calloc(1, sizeof(*process));
	int err;

	if (!process)
		return -ENOMEM;
	init_ranges(&process->ranges);
	process->info.pid = pid;
	process->found = true;
	process->gone_ns = clock_ns(CLOCK_MONOTONIC);
	process->pidfd = -1;
	process->since_ns = since_ns;
	err = open_ended_space(ctx, process, parent);
	if (!err)
		process->info.comm = comm_from_records(ctx, pid, since_ns, parent);
	if (!err && !process->info.comm)
		err = -ENOMEM;
	if (err)
		user_process__free(process);
	else
		*ret = process;
	return err;
}

void user_process__watch(struct user_process *process)
{
	process->pidfd = (int)syscall(SYS_pidfd_open, process->info.pid, 0);
	if (process->pidfd >= 0)
		process->gone_ns = 0;
}

void user_process__free(struct user_process *process)
{
	if (!process)
		return;
	probe_set_detach(&process->probes);
	ranges_deinit(&process->ranges);
	proc_maps_deinit(&process->maps);
	mapping_counts_deinit(&process->mapping_counts);
	symspace__free(process->space);
	if (process->pidfd >= 0)
		close(process->pidfd);
	free(process->info.comm);
	free(process->info.cgroup);
	free(process->allocator);
	free(process->places);
	free(process->permanent);
	free(process->searched);
	bits_deinit(&process->fds.older);
	bits_deinit(&process->fds.open);
	bits_deinit(&process->fds.tracked);
	free(process);
}

static void note_function(struct user_process *process, uint64_t addr, const char *name)
{
	struct function_place *grown;

	for (size_t i = 0; i < process->place_cnt; i++)
		if (process->places[i].addr == addr)
			return;
	grown = reallocarray(process->places, process->place_cnt + 1, sizeof(*grown));
	if (!grown)
		return;
	process->places = grown;
	grown[process->place_cnt++] = (struct function_place){addr, name};
}

/* The backing inodes of the files that a process has mapped. */
struct backing_files {
	struct opened_files opened; /* results: index in `ids`, or a negative errno */
	struct file_id *ids;
	size_t cnt;
	size_t cap;
};

/* Returns the index of the backing inode of a mapping's file, or a negative errno. */
static ssize_t add_backing(struct backing_files *files, pid_t pid, const struct mapping *mapping)
{
	cleanup_close int fd = process_open_mapping(pid, mapping);
	int err = fd < 0 ? fd : array_reserve(&files->ids, &files->cap, files->cnt + 1);

	if (!err)
		err = backing_inode(fd, &files->ids[files->cnt]);
	return err ? err : (ssize_t)files->cnt++;
}

static void note_mapping(const struct user_context *ctx, struct user_process *process,
			 const struct mapping *mapping, struct backing_files *files)
{
	const struct probe_set *probes = ctx->shared ? &ctx->shared->probes : &process->probes;
	ssize_t *file = opened_files_result(&files->opened, mapping);
	uint64_t end = mapping->offset + mapping->end - mapping->start;

	if (file && *file == -ENOENT)
		*file = add_backing(files, process->info.pid, mapping);
	if (!file || *file < 0)
		return;
	for (size_t i = 0; i < probes->cnt; i++) {
		const struct probe *probe = &probes->items[i];

		if (file_id_equal(&probe->file, &files->ids[*file]) &&
		    probe->offset >= mapping->offset && probe->offset < end)
			note_function(process, mapping->start + probe->offset - mapping->offset,
				      probe->function);
	}
}

/*
 * Stores the addresses of probed functions, for events that are read after the process has ended.
 */
static void note_functions(const struct user_context *ctx, struct user_process *process,
			   const struct proc_maps *maps)
{
	struct backing_files files = {.cnt = 0};

	for (size_t i = 0; i < maps->cnt; i++)
		if (maps->mappings[i].executable && maps->mappings[i].file.ino)
			note_mapping(ctx, process, &maps->mappings[i], &files);
	opened_files_deinit(&files.opened);
	free(files.ids);
}

/*
 * Reads the current mappings. If that fails and the process was found by a filter, takes them from
 * the kernel's records. Returns 0 or a negative errno.
 */
static int current_maps(const struct user_context *ctx, const struct user_process *process,
			struct proc_maps *ret)
{
	int err = symspace__read_maps(process->space, ret);

	if (err && process->found && !user_process__maps_from_records(ctx, process, ret))
		return 0;
	return err;
}

static uint32_t unloads(const struct user_context *ctx, const struct user_process *process)
{
	if (process->is_no_target || process->ended)
		return process->unloads;
	return unwind_spaces_unloads(ctx->unwind, process->info.pid);
}

struct process_in_context {
	const struct user_context *ctx;
	const struct user_process *process;
};

static int read_maps(const void *arg, struct proc_maps *ret)
{
	const struct process_in_context *at = arg;

	return current_maps(at->ctx, at->process, ret);
}

void user_process__finish_deferred(const struct user_context *ctx,
				   const struct user_process *process,
				   struct deferred_stacks *deferred, size_t most)
{
	const struct process_in_context at = {ctx, process};
	pid_t pid = process->info.pid;
	const struct walker_subject subject = {
		.pid = pid,
		.uid = unwind_spaces_uid(ctx->unwind, pid),
		.generation = unwind_spaces_generation(ctx->unwind, pid),
		.unloads = unloads(ctx, process),
		.read_maps = read_maps,
		.arg = &at,
	};

	deferred_stacks_finish(deferred, &subject, process->info.image, most, ctx->deadline_ns);
}

void user_process__begin_fds(const struct user_context *ctx, struct user_process *process)
{
	if (ctx->opts->fds && !process->gone_ns)
		open_fds_read(process->info.pid, ctx->deadline_ns, &process->fds.older);
}

static void log_cut(struct user_process *process)
{
	if (!process->logged_cut)
		log_note("process %d has too many mappings: stacks through new code may be cut, "
			 "and unmapped memory may still be reported",
			 process->info.pid);
	process->logged_cut = true;
}

void user_process__log_locked(struct user_process *process)
{
	if (!process->logged_locked)
		log_note("the mappings of process %d cannot be read now, %s: memleak tries again",
			 process->info.pid,
			 limited_calls_are_crowded(process->info.pid)
				 ? "because too many processes wait for file systems that do not "
				   "respond"
				 : "possibly because a file system does not respond");
	process->logged_locked = true;
}

/* Schedules another read of the mappings, since they could not be read now. */
static void postpone_refresh(struct user_process *process)
{
	user_process__log_locked(process);
	process->changed = true;
	process->ended_maps_read = false;
	process->maps_interval_ns = LOCKED_INTERVAL_NS;
}

void user_process__refresh(const struct user_context *ctx, struct user_process *process)
{
	struct unwind_subject subject = {
		.pid = process->info.pid,
		.image = process->info.image,
		.r_debug = process->r_debug,
		.ended = process->ended,
		.permanent = process->permanent,
		.permanent_cnt = process->permanent_cnt,
		.deadline_ns = ctx->deadline_ns,
		.space = process->space,
	};
	struct proc_maps maps;
	int err;

	/*
	 * The mappings of an ended process no longer change: read them at most once, and only if
	 * the kernel's records have them (the process was found by a filter).
	 */
	if (process->ended && (!process->found || process->ended_maps_read))
		return;
	process->ended_maps_read = process->ended;
	process->read_ns = clock_ns(CLOCK_MONOTONIC);
	proc_maps_deinit(&process->maps);
	subject.unloads = unloads(ctx, process);
	/* These are this image's mappings, even if the process runs another by now. */
	err = current_maps(ctx, process, &maps);
	if (err == -EAGAIN)
		postpone_refresh(process);
	if (err)
		return;
	process->maps_interval_ns = proc_maps_interval_ns(&maps);
	/* Keep the complete older mappings instead of an incomplete newer list. */
	if (maps.cut && unwind_spaces_generation(ctx->unwind, process->info.pid)) {
		log_cut(process);
		proc_maps_deinit(&maps);
		return;
	}
	symspace__update(process->space, &maps);
	process->awaits_tables = !unwind_spaces_refresh(ctx->unwind, &subject, &maps);
	if (process->awaits_tables) {
		process->changed = true;
		process->ended_maps_read = false;
	}
	if (ctx->opts->trace)
		note_functions(ctx, process, &maps);
	/*
	 * Keep the mappings for user_process__compare_mappings(). For a process that was found by a
	 * filter, user_process__read_mappings() reads them before each comparison.
	 */
	if (!process->found && process->ranges.cnt)
		process->maps = maps;
	else
		proc_maps_deinit(&maps);
}

bool user_process__maps_are_recent(const struct user_process *process, bool before_report)
{
	return !process->ended &&
	       (!before_report || process->maps_interval_ns > INTERVAL_IGNORED_NS) &&
	       clock_ns(CLOCK_MONOTONIC) < process->read_ns + process->maps_interval_ns;
}

void user_process__read_mappings(const struct user_context *ctx, struct user_process *process)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (process->maps.cnt || !process->ranges.cnt || process->ended || process->is_no_target ||
	    user_process__maps_are_recent(process, true) ||
	    (process->compared_ns && now_ns - process->compared_ns < COMPARE_EVERY_NS) ||
	    !clock_left_ms(ctx->deadline_ns))
		return;
	process->read_ns = now_ns;
	if (!symspace__read_maps(process->space, &process->maps))
		process->maps_interval_ns = proc_maps_interval_ns(&process->maps);
}

void user_process__compare_mappings(struct user_process *process, uint64_t records_until_ns)
{
	if (!process->maps.cnt || process->read_ns > records_until_ns)
		return;
	process->compared_ns = process->read_ns;
	/*
	 * Skip the comparison if the list is incomplete, as for a process that has ended: all
	 * tracked mappings of the process stay outstanding.
	 */
	if (process->maps.whole &&
	    ranges_reconcile(&process->ranges, &process->maps, process->read_ns))
		process->mappings_lost++;
	proc_maps_deinit(&process->maps);
}

void user_process__count_gap(struct user_process *process)
{
	process->exec_gaps += !process->gap_counted;
	process->gap_counted = true;
}

void user_process__count_late(struct user_process *process)
{
	process->late += !process->late_counted;
	process->late_counted = true;
}

/*
 * Attaches the probes again after exec by a thread other than the leader. Normally the libraries of
 * the new program are not loaded yet. If they are, or if this is unknown, counts a gap: allocations
 * may have been missed.
 */
static void rebind_probes(const struct user_context *ctx, struct user_process *process)
{
	struct user_budgets *budgets = &ctx->unwind->files.budgets;
	uid_t uid = unwind_spaces_uid(ctx->unwind, process->info.pid);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	bool hangs = user_budgets_hangs(budgets, uid, now_ns);
	struct module_list list;
	struct probe_set old;

	probe_set_rebind(&process->probes, &ctx->programs, process->info.pid, &old);
	if (module_list_init(process->info.pid, hangs ? 0 : patient_ns(MODULES_MEMORY_NS), 0,
			     &list) == 0) {
		if ((list.is_consistent || hangs) && !ctx->opts->fds)
			user_process__count_gap(process);
		if (list.hangs)
			user_budgets_hang(budgets, uid, now_ns);
		module_list_deinit(&list);
	}
	probe_set_detach(&old);
}

void user_process__exec(const struct user_context *ctx, struct user_process *process,
			uint32_t image, uint64_t since_ns, bool rebind)
{
	pid_t pid = process->info.pid;
	struct symspace *space;
	int err;

	process->gap_counted = process->late_counted = process->logged_unread =
		process->logged_moved = false;
	probe_set_drop_sharers(&process->probes);
	if (rebind && !ctx->shared)
		rebind_probes(ctx, process);
	free(process->info.comm);
	process->info.comm = read_comm(pid);
	if (options_want_cgroups(ctx->opts)) {
		free(process->info.cgroup);
		process->info.cgroup = cgroup_of_process(pid);
	}
	process->info.image = image;
	process->base = 0;
	process->since_ns = since_ns;
	process->maps_interval_ns = 0;
	process->place_cnt = 0;
	process->r_debug = 0;
	process->permanent_cnt = 0;
	process->attached = false;
	process->tries = 0;
	process->searched_cnt = 0;
	process->after_exec = true;
	ranges_clear(&process->ranges);
	proc_maps_deinit(&process->maps);
	mapping_counts_deinit(&process->mapping_counts);
	user_process__begin_fds(ctx, process);
	err = symspace__new(ctx->symbolizer, pid, &space);
	if (err) {
		log_note("process %d executed another program, whose functions cannot be named: %s",
			 pid, strerror(-err));
		return;
	}
	symspace__free(process->space);
	process->space = space;
	user_process__refresh(ctx, process);
}

static const char *find_function(const struct user_process *process, uint64_t addr, bool *known)
{
	*known = true;
	for (size_t i = 0; i < process->place_cnt; i++)
		if (process->places[i].addr == addr)
			return process->places[i].name;
	*known = false;
	return NULL;
}

const char *user_process__function(const struct user_context *ctx, struct user_process *process,
				   uint64_t addr)
{
	bool known;
	const char *name = find_function(process, addr, &known);
	struct proc_maps maps;

	if (known || current_maps(ctx, process, &maps))
		return name;
	note_functions(ctx, process, &maps);
	proc_maps_deinit(&maps);
	name = find_function(process, addr, &known);
	if (!known)
		note_function(process, addr, NULL);
	return name;
}
