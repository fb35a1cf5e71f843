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
#include "loader/cleanup.h"
#include "loader/elf_functions.h"
#include "loader/log.h"
#include "loader/modules.h"
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
static int check_kind(pid_t pid)
{
	cleanup_free char *status = read_proc(pid, "status");

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

static int check_class(pid_t pid)
{
	cleanup_free char *path = NULL;
	cleanup_close int fd = -1;

	if (asprintf(&path, "/proc/%d/exe", pid) < 0)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int err = -errno;

		log_error("cannot open the program of process %d: %s", pid, strerror(-err));
		return err;
	}
	if (elf_class(fd) == ELFCLASS32) {
		log_error("process %d is a 32-bit program: memleak reads 64-bit ones only", pid);
		return -ENOEXEC;
	}
	return 0;
}

int user_process__new(const struct user_context *ctx, pid_t pid, struct user_process **ret)
{
	struct user_process *process;
	int err = check_kind(pid);

	if (!err)
		err = check_class(pid);
	if (!err && !ctx->opts->force)
		err = risks_check(pid);
	if (err)
		return err;
	process = calloc(1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	ranges_init(&process->ranges, (uint64_t)sysconf(_SC_PAGESIZE));
	process->info.pid = pid;
	process->info.comm = read_comm(pid);
	process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process->pidfd < 0) {
		err = -errno;
		log_error("cannot watch process %d: %s", pid, strerror(-err));
		goto err;
	}
	err = symspace__new(ctx->symbolizer, pid, &process->space);
	if (err) {
		log_error("cannot read what process %d has mapped: %s", pid, strerror(-err));
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
	free(process->allocator);
	free(process->places);
	free(process->permanent);
	free(process->searched);
	free(process);
}

void user_process__refresh(const struct user_context *ctx, struct user_process *process)
{
	struct unwind_subject subject = {
		.pid = process->info.pid,
		.image = process->info.image,
		.r_debug = process->r_debug,
		.permanent = process->permanent,
		.permanent_cnt = process->permanent_cnt,
	};
	struct proc_maps maps;

	if (process->ended)
		return;
	subject.unloads = unwind_maps_unloads(ctx->unwind, subject.pid);
	/* Of this image, whatever the process runs by now. */
	if (symspace__read_maps(process->space, &maps))
		return;
	symspace__update(process->space, &maps);
	unwind_maps_refresh(ctx->unwind, &subject, &maps);
	proc_maps_deinit(&maps);
	stack_copies_refresh(ctx->copies, subject.pid,
			     unwind_maps_generation(ctx->unwind, subject.pid));
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
			process->exec_gaps++;
		module_list_deinit(&list);
	}
	probe_set_detach(&old);
}

void user_process__exec(const struct user_context *ctx, struct user_process *process,
			uint32_t image, bool rebind)
{
	pid_t pid = process->info.pid;
	struct symspace *space;
	int err;

	if (rebind)
		rebind_probes(ctx, process);
	free(process->info.comm);
	process->info.comm = read_comm(pid);
	process->info.image = image;
	process->place_cnt = 0;
	process->r_debug = 0;
	process->permanent_cnt = 0;
	process->attached = false;
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

static const char *probed_at(const struct user_process *process, const struct mapping *mapping,
			     uint64_t addr)
{
	cleanup_close int fd = process_open_mapping(process->info.pid, mapping);
	uint64_t offset = addr - mapping->start + mapping->offset;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	for (size_t i = 0; i < process->probes.cnt; i++) {
		const struct probe *probe = &process->probes.items[i];

		if (probe->dev == st.st_dev && probe->ino == st.st_ino && probe->offset == offset)
			return probe->function;
	}
	return NULL;
}

static const char *find_function(const struct user_process *process, uint64_t addr)
{
	const char *name = NULL;
	struct proc_maps maps;

	if (proc_maps_read(process->info.pid, &maps))
		return NULL;
	for (size_t i = 0; i < maps.cnt && !name; i++)
		if (addr >= maps.mappings[i].start && addr < maps.mappings[i].end)
			name = probed_at(process, &maps.mappings[i], addr);
	proc_maps_deinit(&maps);
	return name;
}

const char *user_process__function(struct user_process *process, uint64_t addr)
{
	struct function_place *grown;

	for (size_t i = 0; i < process->place_cnt; i++)
		if (process->places[i].addr == addr)
			return process->places[i].name;
	grown = reallocarray(process->places, process->place_cnt + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	process->places = grown;
	grown[process->place_cnt] = (struct function_place){addr, find_function(process, addr)};
	return grown[process->place_cnt++].name;
}
