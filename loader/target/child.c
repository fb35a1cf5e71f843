// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starts a process under ptrace and stops it before its first constructor. The dynamic loaders of
 * glibc and musl call a hook, _dl_debug_state(), when all libraries are mapped and relocated and
 * before any constructor runs. A debug register or a breakpoint makes the process trap in this
 * hook.
 */
#include "loader/target/child.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/proc_maps.h"
#include "base/signals.h"
#include "base/test_knobs.h"
#include "base/user.h"
#include "loader/target/arch.h"
#include "loader/target/modules.h"
#include "prober/prober.h"

/* Stop signal at a system call, with PTRACE_O_TRACESYSGOOD */
#define CALL_STOP (SIGTRAP | 0x80)

/* Delay in milliseconds before memleak logs that it is waiting for the command to end. */
#define NOTE_AFTER_MS 1000

/*
 * Like execvp(), but does not run a file of unknown format as a script. Returns only on failure,
 * with errno set.
 */
static void exec_by_path(char **argv)
{
	const char *dirs = getenv("PATH");
	bool denied = false;

	if (strchr(argv[0], '/') || !dirs) {
		execv(argv[0], argv);
		return;
	}
	for (;;) {
		size_t len = strcspn(dirs, ":");
		char *path;

		if (asprintf(&path, "%.*s%s%s", (int)len, dirs, len ? "/" : "./", argv[0]) < 0)
			return;
		execv(path, argv);
		free(path);
		denied |= errno == EACCES;
		if ((errno != ENOENT && errno != ENOTDIR && errno != EACCES) || !dirs[len])
			break;
		dirs += len + 1;
	}
	if (denied)
		errno = EACCES;
}

static bool become(const struct passwd *user)
{
	return user_set_groups(user) && !setresgid(user->pw_gid, user->pw_gid, user->pw_gid) &&
	       !setresuid(user->pw_uid, user->pw_uid, user->pw_uid);
}

static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			dup2(null, fd);
}

/*
 * Runs in the new process. On failure, sends errno through the pipe. On success, exec closes the
 * pipe.
 */
static void __attribute__((noreturn))
run_command(char **argv, const struct passwd *user, bool hold, bool quiet, int error_pipe)
{
	sigset_t none;
	int err;

	if (quiet)
		leave_terminal();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	/* With Yama (kernel.yama.ptrace_scope=1), memleak's tracer may not trace it otherwise. */
	if (hold)
		prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
	if ((!user || become(user)) && (!hold || ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0))
		exec_by_path(argv);
	err = errno;
	if (write(error_pipe, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static int wait_stopped(struct child *child)
{
	while (waitpid(child->pid, &child->status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFSTOPPED(child->status))
		return WSTOPSIG(child->status);
	child->reaped = true;
	child->stopped = false;
	return -ECHILD;
}

static int fork_command(char **argv, const struct passwd *user, bool hold, bool quiet,
			struct child *child)
{
	cleanup_close int read_end = -1;
	int ends[2], err = 0, stop;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	read_end = ends[0];
	child->pid = fork();
	if (child->pid == 0)
		run_command(argv, user, hold, quiet, ends[1]);
	close(ends[1]);
	if (child->pid < 0)
		return -errno;
	if (!hold)
		return read(read_end, &err, sizeof(err)) == sizeof(err) ? -err : 0;
	stop = wait_stopped(child);
	if (stop < 0 && read(read_end, &err, sizeof(err)) == sizeof(err))
		return -err;
	if (stop < 0)
		return stop;
	child->stopped = true;
	/*
	 * If memleak is killed, the kernel kills the process, too: its code may contain a
	 * breakpoint that memleak can then no longer remove. Without PTRACE_O_TRACEEXEC, exec would
	 * look like a signal that kills the process.
	 */
	ptrace(PTRACE_SETOPTIONS, child->pid, NULL,
	       (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD));
	return 0;
}

static const struct mapping *find_offset(const struct proc_maps *maps, const struct mapping *file,
					 uint64_t offset)
{
	for_each_mapping (mapping, maps) {
		if (mapping->executable && file_id_equal(&mapping->file, &file->file) &&
		    offset >= mapping->offset &&
		    offset - mapping->offset < mapping->end - mapping->start)
			return mapping;
	}
	return NULL;
}

/*
 * Finds the offset of the hook in a file. Returns false if the file is not the dynamic loader. A
 * file with a main() is a static program: it may contain the hook function, but never calls it.
 */
static bool find_hook_offset(int fd, uint64_t *ret)
{
	static const struct wanted_function names[] = {{.name = LOADER_HOOK}, {.name = "main"}};
	static const struct wanted_functions wanted = {.items = names, .cnt = 2, .at_entry = true};
	struct file_functions found;
	bool is_loader;

	if (prober_functions(fd, arch_elf_machine, &wanted, UINT64_MAX, &found))
		return false;
	is_loader = found.cnt == 1 && !found.items[0].name;
	if (is_loader)
		*ret = found.items[0].offset;
	file_functions_deinit(&found);
	return is_loader;
}

/* Finds the address of the hook in the dynamic loader, which the kernel has just mapped. */
static bool find_hook(const struct child *child, const struct proc_maps *maps, uint64_t base,
		      uint64_t *ret)
{
	const struct mapping *file = proc_maps_find(maps, base), *text;
	cleanup_close int fd = -1;
	uint64_t offset;

	if (!file)
		return false;
	fd = process_open_mapping(child->pid, file);
	if (fd < 0 || !find_hook_offset(fd, &offset))
		return false;
	text = find_offset(maps, file, offset);
	if (!text)
		return false;
	*ret = text->start + (offset - text->offset);
	return true;
}

static int poke(pid_t pid, uint64_t addr, uint64_t word)
{
	return ptrace(PTRACE_POKETEXT, pid, (void *)addr, (void *)word) ? -errno : 0;
}

/*
 * Continues the stopped process until it stops again, and delivers the signal. Returns the next
 * signal or a negative errno: -ERESTART if the process has executed another program, which has not
 * begun yet.
 */
static int run_to_stop(struct child *child, enum __ptrace_request request, int sig)
{
	if (ptrace(request, child->pid, NULL, (void *)(long)sig))
		return -errno;
	sig = wait_stopped(child);
	return sig >= 0 && child->status >> 16 == PTRACE_EVENT_EXEC ? -ERESTART : sig;
}

static bool libraries_complete(pid_t pid)
{
	struct module_list list;
	bool is_consistent;

	if (module_list_init(pid, PROBER_WAIT_MS * 1000000ULL, PROBER_WAIT_MS * 1000000ULL, &list))
		return false;
	is_consistent = list.is_consistent;
	module_list_deinit(&list);
	return is_consistent;
}

/* True if the process is at the entry of munmap(). */
static bool is_unmapping(pid_t pid)
{
	struct __ptrace_syscall_info info;

	return ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_munmap;
}

/*
 * Continues the stopped process until it traps at pc_then. Returns 0 or a negative errno:
 * -ENOENT if it did not trap although all libraries are loaded, because another tracer has placed
 * or removed a breakpoint there meanwhile. The process is then in the system call by which the
 * dynamic loader of glibc unmaps its cache, before it calls constructors; with in_any_call, in the
 * first call of any kind.
 */
static int run_to_trap(struct child *child, uint64_t pc_then, bool in_any_call)
{
	int sig = 0;

	for (;;) {
		uint64_t pc = 0;

		sig = run_to_stop(child, PTRACE_SYSCALL, sig);
		if (sig < 0)
			return sig;
		if (sig == SIGTRAP && arch_get_pc(child->pid, &pc) == 0 && pc == pc_then)
			return 0;
		if (sig != CALL_STOP)
			continue;
		if ((in_any_call || is_unmapping(child->pid)) && libraries_complete(child->pid))
			return -ENOENT;
		sig = 0;
	}
}

/*
 * Tests a debug register with the instruction that the stopped process executes next, since some
 * virtual machines accept debug registers but never trap.
 */
static int try_debug_register(struct child *child, bool *works)
{
	uint64_t pc;
	int sig = 0;

	*works = false;
	if (arch_get_pc(child->pid, &pc) || arch_trap_before(child->pid, pc))
		return 0;
	do {
		if (ptrace(PTRACE_SINGLESTEP, child->pid, NULL, (void *)(long)sig))
			return -errno;
		sig = wait_stopped(child);
		if (sig < 0)
			return sig;
	} while (sig != SIGTRAP);
	*works = arch_trapped_before(child->pid);
	return arch_trap_before(child->pid, 0);
}

/*
 * Lets the process run to the hook with a debug register. This leaves the code unchanged; another
 * tracer could mistake a breakpoint in the code for a breakpoint of its own.
 */
static int run_to_watched_hook(struct child *child, uint64_t hook)
{
	int err;

	do
		err = run_to_trap(child, hook, false);
	while (!err && !libraries_complete(child->pid));
	return err && err != -ENOENT ? err : arch_trap_before(child->pid, 0) ?: err;
}

/*
 * Lets the process run to the hook with a breakpoint. If another tracer has already set a
 * breakpoint there, the traps of the two could not be distinguished: system calls must do.
 */
static int run_to_breakpoint(struct child *child, uint64_t hook)
{
	uint64_t word;
	int err;

	for (;;) {
		errno = 0;
		word = (uint64_t)ptrace(PTRACE_PEEKTEXT, child->pid, (void *)hook, NULL);
		if (errno)
			return -errno;
		if ((word & arch_breakpoint_mask) == arch_breakpoint)
			return run_to_trap(child, 0, true);
		err = poke(child->pid, hook, (word & ~arch_breakpoint_mask) | arch_breakpoint);
		if (!err)
			err = run_to_trap(child, hook + arch_breakpoint_advance, false);
		if (!err || err == -ENOENT)
			err = poke(child->pid, hook, word) ?: err;
		if (!err)
			err = arch_set_pc(child->pid, hook);
		if (err || libraries_complete(child->pid))
			return err;
		if (ptrace(PTRACE_SINGLESTEP, child->pid, NULL, NULL))
			return -errno;
		err = wait_stopped(child);
		if (err < 0)
			return err;
	}
}

/*
 * Lets the process run to the hook call after the loading of all libraries. Skips the call before
 * the loading.
 */
static int run_to_hook(struct child *child, uint64_t hook)
{
	bool works;
	int err = try_debug_register(child, &works);

	if (!err && test_knob(TEST_KNOB_HOOK))
		err = run_to_trap(child, 0, false);
	else if (!err && works && !arch_trap_before(child->pid, hook))
		err = run_to_watched_hook(child, hook);
	else if (!err)
		err = run_to_breakpoint(child, hook);
	if (err != -ENOENT)
		return err;
	log_note("another tracer has a breakpoint on %s of the dynamic loader: "
		 "allocations of constructors may be missed",
		 LOADER_HOOK);
	return 0;
}

static int hold_before_constructors(struct child *child)
{
	struct proc_maps maps;
	uint64_t base = 0, loader, hook;
	bool found;
	int err;

	process_auxv(child->pid, AT_BASE, &base);
	loader = base;
	/*
	 * Without AT_BASE, the program is static or the dynamic loader itself: look for the hook in
	 * its file.
	 */
	if (!base && !process_auxv(child->pid, AT_PHDR, &loader))
		return 0;
	err = proc_maps_read(child->pid, &maps);
	if (err)
		return err;
	found = find_hook(child, &maps, loader, &hook);
	proc_maps_deinit(&maps);
	if (!found && !base)
		return 0; /* a static program, which has no libraries to map */
	if (!found) {
		log_note("the dynamic loader has no %s: allocations before main may be missed",
			 LOADER_HOOK);
		return 0;
	}
	return run_to_hook(child, hook);
}

/*
 * If memleak was started with sudo, logs the user that the command runs as. Without --user, this is
 * root, which is rarely wanted.
 */
static void say_whose(const char *command, const struct passwd *user)
{
	const char *invoker = getenv("SUDO_USER");

	if (!getenv("SUDO_UID"))
		return;
	if (user || !invoker)
		log_note("%s runs as %s", command, user ? user->pw_name : "root");
	else
		log_note("%s runs as root: --user %s runs it as the user who called sudo", command,
			 invoker);
}

int child_start(char **argv, const char *user_name, enum child_hold hold, bool quiet,
		struct child *ret)
{
	const struct passwd *user = user_name ? user_by_name(user_name) : NULL;
	struct child child = {0};
	int err;

	if (user_name && !user) {
		log_error("there is no user %s", user_name);
		return -EINVAL;
	}
	say_whose(argv[0], user);
	err = fork_command(argv, user, hold != CHILD_RUNS, quiet, &child);
	if (!err && hold == CHILD_BEFORE_CONSTRUCTORS)
		do
			err = hold_before_constructors(&child);
		while (err == -ERESTART);
	if (err == -ECHILD)
		log_note("%s ended before its libraries were loaded: nothing was traced", argv[0]);
	if (!err || err == -ECHILD) {
		*ret = child;
		return err;
	}
	if (child.pid > 0 && !child.reaped) {
		kill(child.pid, SIGKILL);
		waitpid(child.pid, &child.status, 0);
	}
	log_error("cannot run %s: %s", argv[0], strerror(-err));
	return err;
}

void child_release(struct child *child)
{
	if (child->stopped)
		ptrace(PTRACE_DETACH, child->pid, NULL, NULL);
	child->stopped = false;
}

void child_hand_over(struct child *child)
{
	if (child->stopped)
		ptrace(PTRACE_DETACH, child->pid, NULL, (void *)(long)SIGSTOP);
	child->stopped = false;
}

void child_go_on(const struct child *child)
{
	kill(child->pid, SIGCONT);
}

/*
 * Sends SIGTERM to the command and waits for its end. If this takes long, logs a message, since the
 * command may ignore SIGTERM.
 */
static void end_command(struct child *child)
{
	cleanup_close int pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	struct pollfd end = {.fd = pidfd, .events = POLLIN};

	kill(child->pid, SIGTERM);
	signals_renew_end();
	if (poll(&end, 1, NOTE_AFTER_MS) == 0)
		log_note("waiting for process %d to end after SIGTERM; press Ctrl-C to exit "
			 "without waiting",
			 child->pid);
	while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
		;
}

int child_finish(struct child *child)
{
	child_release(child);
	if (!child->reaped && waitpid(child->pid, &child->status, WNOHANG) == 0)
		end_command(child);
	child->reaped = true;
	if (WIFSIGNALED(child->status))
		return 128 + WTERMSIG(child->status);
	return WEXITSTATUS(child->status);
}
