// SPDX-License-Identifier: GPL-2.0-or-later
/* One traced process: opening it, and what becomes of it. */
#include "loader/user_process.h"

#include <bpf/bpf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "bpf/memleak.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/cgroups.h"
#include "loader/cleanup.h"
#include "loader/clock.h"
#include "loader/elf_functions.h"
#include "loader/log.h"
#include "loader/modules.h"
#include "loader/real_file.h"
#include "loader/risks.h"
#include "loader/stack_copies.h"
#include "symbolizer/proc_maps.h"

/* A whole small file of /proc; NULL if it cannot be read. */
static char *read_proc(pid_t pid, const char *name)
{
	cleanup_free char *path = NULL;
	cleanup_fclose FILE *file = NULL;
	char *text = NULL;
	size_t cap = 0;

	if (asprintf(&path, "/proc/%d/%s", pid, name) < 0)
		return NULL;
	file = fopen(path, "re");
	if (!file || getdelim(&text, &cap, '\0', file) < 0) {
		free(text);
		return NULL;
	}
	return text;
}

static char *read_comm(pid_t pid)
{
	char *comm = read_proc(pid, "comm");
	size_t len = comm ? strlen(comm) : 0;

	if (len && comm[len - 1] == '\n')
		comm[len - 1] = '\0';
	return comm ? comm : strdup("?");
}

/* The number after "Name:" in /proc/PID/status; -1: none. */
static long status_number(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

/* A kernel thread has no memory of its own, hence no VmSize line; nor has a zombie. */
static int check_kind(pid_t pid, bool found)
{
	cleanup_free char *status = read_proc(pid, "status");

	if (found)
		return status && strstr(status, "\nVmSize:") ? 0 : -ESRCH;
	if (!status) {
		log_error("no process with pid %d", pid);
		return -ESRCH;
	}
	if (status_number(status, "\nTgid:") != pid) {
		log_error("%d is a thread of process %ld: use -p %ld", pid,
			  status_number(status, "\nTgid:"), status_number(status, "\nTgid:"));
		return -EINVAL;
	}
	if (strstr(status, "\nState:\tZ") || strstr(status, "\nState:\tX")) {
		log_error("process %d has ended already", pid);
		return -ESRCH;
	}
	if (!strstr(status, "\nVmSize:")) {
		log_error("%d is a kernel thread: it has no allocator to trace", pid);
		return -EINVAL;
	}
	return 0;
}

static int check_class(pid_t pid, bool found)
{
	cleanup_free char *path = NULL;
	cleanup_close int fd = -1;

	if (asprintf(&path, "/proc/%d/exe", pid) < 0)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int err = -errno;

		if (!found)
			log_error("cannot open the program of process %d: %s", pid, strerror(-err));
		return err;
	}
	if (elf_class(fd) == ELFCLASS32) {
		(found ? log_verbose : log_error)(
			"process %d is a 32-bit program: memleak reads 64-bit ones only", pid);
		return -ENOEXEC;
	}
	return 0;
}

int user_process__new(const struct user_context *ctx, pid_t pid, bool found,
		      struct user_process **ret)
{
	struct user_process *process;
	int err = check_kind(pid, found);

	if (!err)
		err = check_class(pid, found);
	if (!err && !found && !ctx->opts->force)
		err = risks_check(pid);
	if (err)
		return err;
	process = calloc(1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	ranges_init(&process->ranges, (uint64_t)sysconf(_SC_PAGESIZE));
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
			log_error("cannot read what process %d has mapped: %s", pid,
				  strerror(-err));
		goto err;
	}
	*ret = process;
	return 0;
err:
	user_process__free(process);
	return err;
}

void user_process__free(struct user_process *process)
{
	if (!process)
		return;
	probe_set_detach(&process->probes);
	ranges_deinit(&process->ranges);
	symspace__free(process->space);
	if (process->pidfd >= 0)
		close(process->pidfd);
	free(process->info.comm);
	free(process->info.cgroup);
	free(process->allocator);
	free(process->places);
	free(process->permanent);
	free(process->searched);
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

static void note_mapping(const struct user_context *ctx, struct user_process *process,
			 const struct mapping *mapping)
{
	const struct probe_set *probes = ctx->pool ? &ctx->pool->probes : &process->probes;
	cleanup_close int fd = process_open_mapping(process->info.pid, mapping);
	uint64_t end = mapping->offset + mapping->end - mapping->start;
	struct stat st;

	if (fd < 0 || real_file_stat(fd, &st))
		return;
	for (size_t i = 0; i < probes->cnt; i++) {
		const struct probe *probe = &probes->items[i];

		if (probe->dev == st.st_dev && probe->ino == st.st_ino &&
		    probe->offset >= mapping->offset && probe->offset < end)
			note_function(process, mapping->start + probe->offset - mapping->offset,
				      probe->function);
	}
}

/* Where they are, for events that are read when the process has ended. */
static void note_functions(const struct user_context *ctx, struct user_process *process,
			   const struct proc_maps *maps)
{
	for (size_t i = 0; i < maps->cnt; i++)
		if (maps->mappings[i].executable)
			note_mapping(ctx, process, &maps->mappings[i]);
}

int user_process__maps(const struct user_context *ctx, const struct user_process *process,
		       struct proc_maps *ret)
{
	int err = symspace__read_maps(process->space, ret);

	return err && process->found ? user_process__told_maps(ctx, process, ret) : err;
}

static uint32_t unloads(const struct user_context *ctx, const struct user_process *process)
{
	if (process->left || process->ended)
		return process->unloads;
	return unwind_maps_unloads(ctx->unwind, process->info.pid);
}

struct process_in_context {
	const struct user_context *ctx;
	const struct user_process *process;
};

static int read_maps(const void *arg, struct proc_maps *ret)
{
	const struct process_in_context *at = arg;

	return user_process__maps(at->ctx, at->process, ret);
}

static struct reference_subject reference_subject(const struct process_in_context *at)
{
	pid_t pid = at->process->info.pid;

	return (struct reference_subject){
		.pid = pid,
		.generation = unwind_maps_generation(at->ctx->unwind, pid),
		.unloads = unloads(at->ctx, at->process),
		.read_maps = read_maps,
		.arg = at,
	};
}

void user_process__finish_late(const struct user_context *ctx, const struct user_process *process,
			       struct unwind_late *late, size_t most)
{
	const struct process_in_context at = {ctx, process};
	const struct reference_subject subject = reference_subject(&at);

	unwind_late_finish(late, &subject, process->info.image, most);
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
	};
	const struct process_in_context at = {ctx, process};
	struct reference_subject reference;
	struct proc_maps maps;

	/* What was told of one that has ended is all that there will be. */
	if (process->ended && (!process->found || process->told))
		return;
	process->told = process->ended;
	process->read_ns = clock_ns(CLOCK_MONOTONIC);
	subject.unloads = unloads(ctx, process);
	/* Of this image, whatever the process runs by now. */
	if (user_process__maps(ctx, process, &maps))
		return;
	symspace__update(process->space, &maps);
	unwind_maps_refresh(ctx->unwind, &subject, &maps);
	if (ctx->opts->trace)
		note_functions(ctx, process, &maps);
	proc_maps_deinit(&maps);
	reference = reference_subject(&at);
	stack_copies_refresh(ctx->copies, &reference);
}

void user_process__count_gap(struct user_process *process)
{
	process->exec_gaps += !process->gap_counted;
	process->gap_counted = true;
}

/*
 * The libraries of a program that has just been executed are not there yet, as a rule. If they
 * are, something may have been allocated before the probes were back.
 */
static void rebind_probes(const struct user_context *ctx, struct user_process *process)
{
	struct module_list list;
	struct probe_set old;

	probe_set_rebind(&process->probes, &ctx->programs, process->info.pid, &old);
	if (module_list_init(process->info.pid, &list) == 0) {
		if (list.settled)
			user_process__count_gap(process);
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

	process->gap_counted = false;
	if (rebind && !ctx->pool)
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
	process->place_cnt = 0;
	process->r_debug = 0;
	process->permanent_cnt = 0;
	process->attached = false;
	process->tries = 0;
	process->searched_cnt = 0;
	process->after_exec = true;
	ranges_clear(&process->ranges);
	err = symspace__new(ctx->symbolizer, pid, &space);
	if (err) {
		log_note("process %d has started another program, whose functions cannot be "
			 "named: %s",
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

	if (known || user_process__maps(ctx, process, &maps))
		return name;
	note_functions(ctx, process, &maps);
	proc_maps_deinit(&maps);
	name = find_function(process, addr, &known);
	if (!known)
		note_function(process, addr, NULL);
	return name;
}
