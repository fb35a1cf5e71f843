// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prefork COUNT: a server forks COUNT workers, and each of them forks one more worker, all before
 * memleak is attached. When the runner sends a byte, the server and all workers leak. Each worker
 * then forks a child, which also leaks. Each process prints its blocks, including inherited ones:
 * `child PID COUNT BYTES`.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "truth.h"

static int work[2]; /* a pipe: closing it lets the workers begin */
/* a pipe: workers and their children write a byte after printing their blocks */
static int told[2];

OWN_FRAME static void *child_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

static void tell(size_t cnt, size_t bytes)
{
	say("child %d %zu %zu\n", getpid(), cnt, bytes);
	must(write(told[1], "", 1) == 1, "write");
}

static void leak(size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		must(child_alloc(1000) != NULL, "malloc");
}

/* Forks a process that is killed when its parent ends. Returns as fork() does. */
static pid_t fork_process(void)
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/*
 * Waits until the server closes `work`. Then leaks, and forks a child that inherits the leaked
 * blocks and leaks one more.
 */
static void run_worker(size_t cnt)
{
	char byte;

	close(work[1]);
	must(read(work[0], &byte, 1) == 0, "read");
	leak(cnt);
	tell(cnt, 1000 * cnt);
	if (!fork_process()) {
		leak(1);
		tell(cnt + 1, 1000 * (cnt + 1));
	}
	pause();
	_exit(0);
}

static void fork_workers(size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		if (fork_process())
			continue;
		if (!fork_process())
			run_worker(2 * i + 2);
		run_worker(2 * i + 1);
	}
}

int main(int argc, char **argv)
{
	size_t cnt;
	char byte;

	must(argc == 2, "usage");
	cnt = (size_t)atoi(argv[1]);
	must(pipe(work) == 0 && pipe(told) == 0, "pipe");
	fork_workers(cnt);
	ready();
	close(work[0]);
	close(work[1]);
	leak(10);
	say("child %d 10 10000\n", getpid());
	for (size_t i = 0; i < 4 * cnt; i++)
		must(read(told[0], &byte, 1) == 1, "read");
	ready();
	return 0;
}
