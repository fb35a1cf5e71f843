// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inherited NAME [PACE_MS]: runs the case NAME, which forks children that inherit blocks. PACE_MS
 * is a pause before each step. Each process prints its blocks as `holds PID FUNCTION COUNT BYTES
 * KIND INHERITED`; INHERITED is the number of inherited blocks. A process that ends during the case
 * prints `held` instead of `holds`. Each process has a list of its blocks in memory, which fork()
 * copies.
 */
#include "inherited.h"

/*
 * Child and parent both free some blocks, in either order; other blocks are freed by only one of
 * them. The child also allocates.
 */
static void run_frees(void)
{
	if (!fork_child()) {
		at(0);
		drop(0, 10);
		take(100, 110, CHILD_ALLOC, child_alloc, 300);
		done();
		at(2);
		drop(20, 30);
		drop(60, 63);
		/* The child allocates in a function in which the parent has also allocated. */
		take(0, 5, FIRST_ALLOC, first_alloc, 100);
		stay();
	}
	at(1);
	drop(0, 5);
	drop(20, 40);
	drop(70, 72);
	done();
	at(3);
}

/* Forks a child that outlives its parent, and ends only when the test runner closes stdin. */
static void run_orphan(void)
{
	pid_t parent = getpid();

	if (!fork_child()) {
		at(0);
		drop(0, 10);
		tell("holds");
		done();
		while (getppid() == parent)
			usleep(1000);
		wait_end(STDIN_FILENO);
	}
	at(1);
	drop(5, 20);
}

static void run_nothing(void)
{
	if (!fork_child()) {
		at(0);
		stay();
	}
	at(1);
}

/*
 * Forks three children. After each fork, the parent replaces some of its blocks with new blocks at
 * the same addresses.
 */
static void run_same_address(void)
{
	for (int i = 0; i < 3; i++) {
		if (!fork_child()) {
			at(2 * i);
			drop(i, i + 1);
			done();
			at(6 + i);
			drop(5 + i, 7 + i);
			stay();
		}
		at(2 * i + 1);
		renew(0, 20);
		renew(50, 55);
		done();
	}
	at(9);
}

static void run_realloc(void)
{
	if (!fork_child()) {
		at(0);
		grow(0, 4, 90);    /* in place */
		grow(4, 8, 5000);
		fail_to_grow(8, 12);
		fail_to_grow(20, 30);
		done();
		at(2);
		grow(8, 10, 3000);
		/* by now, the parent has other blocks in these elements of slots[] */
		grow(22, 25, 3000);
		drop(25, 26);
		stay();
	}
	at(1);
	grow(0, 2, 7000);
	fail_to_grow(12, 16);
	grow(20, 30, 6000);
	grow(30, 34, 80);
	done();
	at(3);
	if (!fork_child()) {
		at(3);
		drop(12, 14);
		stay();
	}
	at(4);
}

/*
 * Forks a child, which changes its blocks and then forks a grandchild. The grandchild inherits the
 * changed blocks.
 */
static void run_grandchild(void)
{
	if (!fork_child()) {
		at(0);
		drop(0, 10);
		take(100, 105, CHILD_ALLOC, child_alloc, 300);
		if (!fork_child()) {
			at(0);
			drop(10, 20);
			drop(100, 102);
			done();
			at(3);
			drop(20, 25);
			stay();
		}
		at(1);
		drop(10, 15);
		drop(30, 35);
		drop(102, 104);
		done();
		at(4);
		drop(40, 42);
		stay();
	}
	at(2);
	drop(0, 50);
	done();
	at(5);
}

/*
 * Forks a child, which forks a grandchild. Then the child runs exec if `execs` is true, otherwise
 * it ends. Parent and grandchild go on.
 */
static void run_gone(bool execs)
{
	pid_t pid = fork_child();
	int status;

	if (!pid) {
		at(0);
		drop(0, 10);
		take(100, 110, CHILD_ALLOC, child_alloc, 300);
		if (!fork_child()) {
			close(executed[1]);
			at(2);
			drop(10, 20);
			drop(100, 103);
			stay();
		}
		drop(20, 22);
		drop(105, 107);
		if (!execs)
			tell("held");
		done();
		if (execs)
			execute();
		_exit(0);
	}
	at(1);
	drop(0, 30);
	drop(60, 65);
	if (execs)
		wait_executed();
	else
		must(waitpid(pid, &status, 0) == pid && !status, "child");
	done();
	at(3);
}

/* Forks a child that runs exec, which frees the child's blocks. */
static void run_exec(void)
{
	if (!fork_child()) {
		at(0);
		drop(0, 10);
		done();
		execute();
	}
	at(1);
	drop(10, 20);
	wait_executed();
}

static void run_mappings(void)
{
	for (int i = 0; i < 5; i++)
		put(110 + i, MAP_ALLOC, map_alloc(16 * PAGE), 16 * PAGE);
	if (!fork_child()) {
		at(0);
		unmap(110, 0, 16 * PAGE);
		unmap(111, 0, 4 * PAGE);
		put(116, MAP_ALLOC, map_alloc(PAGE), PAGE);
		done();
		at(2);
		unmap(113, 8 * PAGE, 8 * PAGE);
		if (!fork_child()) {
			at(2);
			unmap(114, 0, 16 * PAGE);
			stay();
		}
		at(3);
		stay();
	}
	at(1);
	unmap(111, 8 * PAGE, 8 * PAGE);
	unmap(112, 0, 16 * PAGE);
	done();
	at(4);
}

/* Forks 20 children. Each child frees ten blocks; the parent frees one block after each fork. */
static void run_many(void)
{
	for (int i = 0; i < 20; i++) {
		if (!fork_child()) {
			at(2 * i);
			drop(3 * i, 3 * i + 10);
			stay();
		}
		at(2 * i + 1);
		drop(99 - i, 100 - i);
		done();
	}
}

static void run_exit(void)
{
	run_gone(false);
}

static void run_gone_exec(void)
{
	run_gone(true);
}

/*
 * Makes a chain of processes, each forked by the previous one. Only the first and the last stay;
 * the others end.
 */
static void run_generations(void)
{
	int status;

	for (int i = 0; i < 5; i++)
		put(110 + i, MAP_ALLOC, map_alloc(16 * PAGE), 16 * PAGE);
	must(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "subreaper");
	for (int i = 0; i < 4; i++) {
		if (fork_child()) {
			if (!i)
				break;
			tell("held");
			_exit(0);
		}
		drop(10 * i, 10 * i + 5);
		take(100 + i, 101 + i, CHILD_ALLOC, child_alloc, 300);
		unmap(110 + i, 0, (16 - i) * PAGE);
		put(115 + i, MAP_ALLOC, map_alloc(PAGE), PAGE);
		if (i == 3)
			stay();
	}
	for (int i = 0; i < 3; i++)
		must(wait(&status) > 0 && !status, "child");
	at(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} runs[] = {
	{"frees", run_frees},
	{"orphan", run_orphan},
	{"nothing", run_nothing},
	{"same_address", run_same_address},
	{"realloc", run_realloc},
	{"grandchild", run_grandchild},
	{"exit", run_exit},
	{"gone_exec", run_gone_exec},
	{"exec", run_exec},
	{"mappings", run_mappings},
	{"generations", run_generations},
	{"many", run_many},
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	void (*run)(void) = NULL;

	self = argv[0];
	pace_ms = argc > 2 ? atoi(argv[2]) : 0;
	if (!strcmp(name, "stay")) {
		close(atoi(argv[3]));
		wait_end(pace_ms);
	}
	turn = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(turn != MAP_FAILED && pipe(hold) == 0 && pipe(executed) == 0,
	     "pipe");
	ready();
	take(0, 50, FIRST_ALLOC, first_alloc, 100);
	take(50, 100, SECOND_ALLOC, second_alloc, 200);
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		if (!strcmp(name, runs[i].name))
			run = runs[i].run;
	must(run != NULL, "name");
	run();
	tell("holds");
	ready();
	return 0;
}
