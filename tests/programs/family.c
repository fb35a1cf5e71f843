// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * family NAME [COUNT]: runs the case NAME, in which processes fork and each of them leaks. COUNT is
 * the number of children (of blocks, in the case "hog"). Children print the blocks that they leak
 * as `child PID COUNT BYTES`, and the blocks that they inherited from their parent as `inherits PID
 * COUNT BYTES`. Several processes usually have blocks at equal addresses.
 */
#include <spawn.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "truth.h"

extern char **environ;
static int hold[2]; /* a pipe: children end when its write end is closed */
/* a pipe: each child writes a byte once it has printed its blocks */
static int told[2];
static char *self;

OWN_FRAME static void *parent_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

OWN_FRAME static void *child_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

OWN_FRAME static void *leaf_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

/* Leaks blocks, and frees an equal number. */
static void leak(void *alloc(size_t size), int number, size_t size)
{
	for (int i = 0; i < number; i++) {
		alloc(size);
		free(alloc(size));
	}
	say("child %d %d %zu\n", getpid(), number, number * size);
	must(write(told[1], "", 1) == 1, "pipe");
}

static void wait_end(int fd)
{
	char byte;

	must(read(fd, &byte, 1) == 0, "pipe");
}

/*
 * Main function of a child that has executed this program: `family leaf COUNT HOLD_FD TOLD_FD`. If
 * HOLD_FD is negative, the process ends immediately.
 */
static void be_leaf(int number, int fd, int told_fd)
{
	told[1] = told_fd;
	leak(leaf_alloc, number, 200);
	if (fd >= 0)
		wait_end(fd);
	_exit(0);
}

static pid_t fork_child(int number)
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (pid)
		return pid;
	close(hold[1]);
	say("inherits %d 10 1000\n", getpid());
	leak(child_alloc, number, 1000);
	wait_end(hold[0]);
	_exit(0);
}

static char **leaf_arguments(int number, bool stays)
{
	static char count[16], fd[16], told_fd[16];
	static char *arguments[] = {NULL, "leaf", count, fd, told_fd, NULL};

	arguments[0] = self;
	snprintf(count, sizeof(count), "%d", number);
	snprintf(fd, sizeof(fd), "%d", stays ? hold[0] : -1);
	snprintf(told_fd, sizeof(told_fd), "%d", told[1]);
	return arguments;
}

static pid_t fork_leaf(int number, bool stays)
{
	char **arguments = leaf_arguments(number, stays);
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (pid)
		return pid;
	close(hold[1]);
	child_alloc(5000); /* exec frees this block */
	execv(self, arguments);
	_exit(99);
}

static pid_t spawn_leaf(int number, bool stays)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addclose(&actions, hold[1]);
	must(posix_spawn(&pid, self, &actions, NULL, leaf_arguments(number, stays), environ) == 0,
	     "posix_spawn");
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

/*
 * Waits until `cnt` children have printed their blocks. Then prints `ready`, and waits for a byte
 * from stdin.
 */
static void hold_on(int cnt)
{
	char byte;

	while (cnt--)
		must(read(told[0], &byte, 1) == 1, "pipe");
	say("ready\n");
	wait_byte();
}

static void begin(void)
{
	must(pipe(hold) == 0 && pipe(told) == 0, "pipe");
	for (int i = 0; i < 10; i++)
		parent_alloc(100);
	hold_on(0);
	for (int i = 0; i < 10; i++)
		parent_alloc(100);
	say("child %d 10 1000\n", getpid());
}

static void end(int cnt)
{
	close(hold[1]);
	for (int i = 0; i < cnt; i++) {
		int status;

		must(wait(&status) > 0 && status == 0, "child");
	}
	hold_on(0);
}

static void run_server(int cnt)
{
	begin();
	for (int i = 0; i < cnt; i++)
		fork_child(i + 1);
	hold_on(cnt);
	end(cnt);
}

/* Forks children that leak and end immediately, without exec. */
static void run_brief(int cnt)
{
	begin();
	for (int i = 0; i < cnt; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			leak(child_alloc, i % 5 + 1, 1000);
			_exit(0);
		}
		must(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "child");
	}
	hold_on(cnt);
}

/* Allocates many blocks, to fill memleak's table of blocks. */
static void run_hog(int cnt)
{
	begin();
	for (int i = 0; i < cnt; i++)
		child_alloc(16);
	hold_on(0);
}

/* Forks or spawns children that execute a program and stay. */
static void run_exec(int cnt)
{
	begin();
	for (int i = 0; i < cnt; i++)
		i % 2 ? fork_leaf(i + 1, true) : spawn_leaf(i + 1, true);
	hold_on(cnt);
	end(cnt);
}

/* Starts many short-lived children that execute a program, two at a time. */
static void run_short(int cnt)
{
	begin();
	for (int i = 0; i < cnt; i += 2) {
		int status;

		i % 4 ? fork_leaf(i % 7 + 1, false) : spawn_leaf(i % 7 + 1, false);
		fork_leaf(i % 5 + 1, false);
		must(wait(&status) > 0 && status == 0, "child");
		must(wait(&status) > 0 && status == 0, "child");
		usleep(50000);
	}
	hold_on(cnt);
}

/* Starts children with much memory, so that the kernel takes long to free it at exec. */
static void run_heavy(int cnt)
{
	const size_t size = 128 << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory != MAP_FAILED, "mmap");
	memset(memory, 1, size);
	begin();
	for (int i = 0; i < cnt; i++) {
		int status;

		fork_leaf(i % 5 + 1, false);
		must(wait(&status) > 0 && status == 0, "child");
	}
	hold_on(cnt);
}

/* Starts programs one after another, up to 200 per second. */
static void run_brisk(int cnt)
{
	begin();
	for (int i = 0; i < cnt; i++) {
		struct timespec next;
		int status;

		clock_gettime(CLOCK_MONOTONIC, &next);
		next.tv_nsec += 5000000;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		spawn_leaf(i % 50 + 1, false);
		must(wait(&status) > 0 && status == 0, "child");
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	hold_on(cnt);
}

/* Executes another program, so that the process loses its blocks and its name. */
static void run_other(char **arguments)
{
	begin();
	hold_on(0);
	execv(arguments[0], arguments);
	_exit(99);
}

int main(int argc, char **argv)
{
	int cnt = argc > 2 ? atoi(argv[2]) : 0;

	self = argv[0];
	if (argc > 4 && !strcmp(argv[1], "leaf"))
		be_leaf(cnt, atoi(argv[3]), atoi(argv[4]));
	if (argc > 2 && !strcmp(argv[1], "server"))
		run_server(cnt);
	if (argc > 2 && !strcmp(argv[1], "brief"))
		run_brief(cnt);
	if (argc > 2 && !strcmp(argv[1], "hog"))
		run_hog(cnt);
	if (argc > 2 && !strcmp(argv[1], "brisk"))
		run_brisk(cnt);
	if (argc > 2 && !strcmp(argv[1], "heavy"))
		run_heavy(cnt);
	if (argc > 2 && !strcmp(argv[1], "other"))
		run_other(argv + 2);
	if (argc > 2 && !strcmp(argv[1], "exec"))
		run_exec(cnt);
	if (argc > 2 && !strcmp(argv[1], "short"))
		run_short(cnt);
	return 0;
}
