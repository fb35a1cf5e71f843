// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * workers NAME PROCESS_NAME: makes a worker by clone(CLONE_VM): a process that runs in the memory
 * of its parent. Unlike a thread, the worker has a pid of its own. Its allocations and frees count
 * for the parent. NAME selects the case; the parent renames itself to PROCESS_NAME.
 */
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "truth.h"

#define BLOCKS 10
#define FREED 4
#define OWN 5

static void *blocks[BLOCKS];
static int to_worker[2], to_parent[2];
static char stack[256 * 1024] __attribute__((aligned(16)));
static const char *name;
static pid_t worker;

OWN_FRAME static void *parent_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

OWN_FRAME static void worker_alloc(size_t size)
{
	must(keep(malloc(size)) != NULL, "malloc"); /* LEAK */
}

static void pass(const int *ends)
{
	must(write(ends[1], "", 1) == 1, "write");
}

static void await(const int *ends)
{
	char byte;

	must(read(ends[0], &byte, 1) == 1, "read");
}

/* The parent waits for the worker, which uses the parent's thread-local variables. */
static int work(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	await(to_worker);
	if (!strcmp(name, "exec"))
		execl("/bin/true", "true", NULL);
	for (int i = 0; i < FREED; i++)
		free(blocks[i]);
	for (int i = 0; i < OWN; i++)
		worker_alloc(1000);
	pass(to_parent);
	await(to_worker);
	return 0;
}

static void make_worker(int flags)
{
	worker = clone(work, stack + sizeof(stack), CLONE_VM | SIGCHLD | flags, NULL);
	must(worker > 0, "clone");
}

static void parent_allocs(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = parent_alloc(100);
}

static void say_all(void)
{
	leaks("parent_alloc", BLOCKS - FREED, (BLOCKS - FREED) * 100);
	leaks("worker_alloc", OWN, OWN * 1000);
	say("process %d\n", (int)getpid());
}

static void wait_for_worker(void)
{
	int status;

	must(waitpid(worker, &status, 0) == worker && status == 0, "worker");
}

/*
 * The parent allocates; then the worker frees some of these blocks and allocates others. memleak
 * must report the same blocks before and after the worker ends. main() starts the worker before or
 * after memleak is attached.
 */
static void works(void)
{
	parent_allocs();
	pass(to_worker);
	await(to_parent);
	say_all();
	ready();
	pass(to_worker);
	wait_for_worker();
	say_all();
}

static void executes(void)
{
	parent_allocs();
	pass(to_worker);
	wait_for_worker();
	leaks("parent_alloc", BLOCKS, BLOCKS * 100);
}

int main(int argc, char **argv)
{
	must(argc == 3 && !pipe(to_worker) && !pipe(to_parent), "usage");
	name = argv[1];
	prctl(PR_SET_NAME, argv[2]);
	if (strcmp(name, "later"))
		make_worker(0);
	ready();
	if (!strcmp(name, "later")) {
		make_worker(0);
		ready();
	}
	if (strcmp(name, "exec"))
		works();
	else
		executes();
	marker();
	ready();
	return 0;
}
