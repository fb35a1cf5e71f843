// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * process NAME [N]: runs a case in which the process forks, spawns or executes.
 */
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

#include "truth.h"

#define BLOCKS 10

extern char **environ;
static void *blocks[BLOCKS];

OWN_FRAME static void *parent_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

OWN_FRAME static void *child_alloc(size_t size)
{
	return keep(malloc(size));
}

OWN_FRAME static void second_alloc(void)
{
	must(keep(malloc(32)) != NULL, "malloc"); /* LEAK */
}

static void parent_allocs(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = parent_alloc(100);
}

static void say_parents(void)
{
	leaks("parent_alloc", BLOCKS, BLOCKS * 100);
}

static void child_work(void)
{
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	for (int i = 0; i < 2 * BLOCKS; i++)
		child_alloc(1000);
}

static void wait_for(pid_t pid)
{
	int status;

	must(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "child");
}

static void forks(void)
{
	pid_t pid;

	parent_allocs();
	pid = fork();
	if (pid == 0) {
		child_work();
		_exit(0);
	}
	wait_for(pid);
	say_parents();
}

/*
 * Forks a child that still runs while memleak reports, and while the parent allocates again in
 * marker().
 */
static void forks_and_stays(void)
{
	int in[2], out[2];
	char byte;

	parent_allocs();
	must(pipe(in) == 0 && pipe(out) == 0, "pipe");
	if (fork() == 0) {
		close(in[1]);
		child_work();
		must(write(out[1], "x", 1) == 1, "write");
		must(read(in[0], &byte, 1) == 0, "read");
		_exit(0);
	}
	must(read(out[0], &byte, 1) == 1, "read");
	say_parents();
}

static void vforks(void)
{
	pid_t pid;

	parent_allocs();
	pid = vfork();
	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	wait_for(pid);
	say_parents();
}

OWN_FRAME static void free_all(void)
{
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
}

/*
 * Frees blocks in a vfork child. The child shares the parent's memory but is another process: a
 * tracer of the parent alone misses these frees. Afterwards the parent allocates at the freed
 * addresses again.
 */
static void vfork_frees(void)
{
	pid_t pid;

	parent_allocs();
	pid = vfork();
	if (pid == 0) {
		/* not inlined: inlining would change the parent's frame */
		free_all();
		_exit(0);
	}
	wait_for(pid);
	parent_allocs();
	say_parents();
}

static void spawns(void)
{
	char *argv[] = {"true", NULL};
	pid_t pid = 0;

	parent_allocs();
	must(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0, "posix_spawn");
	wait_for(pid);
	say_parents();
}

static void become_second(void)
{
	execl("/proc/self/exe", "process", "second", NULL);
	must(0, "exec");
}

static void execs(void)
{
	parent_allocs();
	become_second();
}

static void *exec_in_thread(void *arg)
{
	(void)arg;
	become_second();
	return NULL;
}

static void execs_from_thread(void)
{
	pthread_t thread;

	parent_allocs();
	must(pthread_create(&thread, NULL, exec_in_thread, NULL) == 0, "pthread_create");
	pthread_join(thread, NULL);
}

/* A failed exec must not change any count. */
static void exec_fails(void)
{
	parent_allocs();
	execl("/nonexistent/program", "program", NULL);
	execl("/dev/null", "null", NULL);
	say_parents();
}

/* Runs after the exec, as `process second`: allocates immediately, and again after a byte. */
static void second(void)
{
	for (int i = 0; i < 5; i++)
		second_alloc();
	leaks("second_alloc", 5, 160);
	ready();
	for (int i = 0; i < 5; i++)
		second_alloc();
	leaks("second_alloc", 10, 320);
}

/*
 * Allocates 200 blocks and waits for a byte. Then, if `times` is 0, prints the blocks; else
 * executes this program again with `times` - 1.
 */
static void again(const char *times)
{
	char left[16], go;

	for (int i = 0; i < 200; i++)
		second_alloc();
	must(read(STDIN_FILENO, &go, 1) == 1, "read");
	snprintf(left, sizeof(left), "%d", atoi(times) - 1);
	if (atoi(times))
		execl("/proc/self/exe", "process", "again", left, NULL);
	leaks("second_alloc", 200, 200 * 32);
}

static const struct {
	const char *name;
	void (*run)(void);
} things[] = {
	{"fork", forks},
	{"fork_and_stay", forks_and_stays},
	{"vfork", vforks},
	{"vfork_frees", vfork_frees},
	{"spawn", spawns},
	{"exec", execs},
	{"exec_from_thread", execs_from_thread},
	{"exec_fails", exec_fails},
};

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "again")) {
		again(argv[2]);
		return 0;
	}
	must(argc == 2, "usage");
	if (!strcmp(argv[1], "second")) {
		second();
		ready();
		return 0;
	}
	ready();
	for (size_t i = 0; i < ARRAY_SIZE(things); i++)
		if (!strcmp(argv[1], things[i].name)) {
			things[i].run();
			marker();
			ready();
			return 0;
		}
	must(0, argv[1]);
}
