// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forked children and what they have of their parents: inherited NAME [PACE_MS]. Each process says
 * what it has as `holds PID FUNCTION COUNT BYTES KIND INHERITED`, the last being how many of these
 * were its parent's; one that ends at once says `held`. What it has is written down in its memory,
 * so that a child begins with its parent's books as it begins with its parent's blocks.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "truth.h"

#define SLOTS 120
#define PAGE 4096UL

enum function { FIRST_ALLOC, SECOND_ALLOC, CHILD_ALLOC, GROW_ALLOC, MAP_ALLOC, NEW_ALLOC, FUNCTIONS };

static const char *const names[FUNCTIONS] = {
	"first_alloc", "second_alloc", "child_alloc", "grow_alloc", "map_alloc", "new_alloc",
};

static struct slot {
	char *p;
	size_t size;
	enum function function;
	bool inherited;
} slots[SLOTS];

static int *turn;   /* whose, in memory that all share, so that it is nobody's leak */
static int hold[2]; /* children end when its other end is closed */
static int executed[2]; /* gone with an exec */
static int pace_ms;
static char *self;

OWN_FRAME static void *first_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

OWN_FRAME static void *second_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

OWN_FRAME static void *child_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

OWN_FRAME static void *new_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

OWN_FRAME static void *grow_alloc(void *p, size_t size)
{
	return keep(realloc(p, size)); /* LEAK */
}

OWN_FRAME static void *map_alloc(size_t size)
{
	return keep(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); /* LEAK */
}

static void put(int at, enum function function, void *p, size_t size)
{
	must(p && p != MAP_FAILED && !slots[at].p, "allocation");
	slots[at] = (struct slot){p, size, function, false};
}

static void take(int from, int to, enum function function, void *alloc(size_t size), size_t size)
{
	for (int i = from; i < to; i++)
		put(i, function, alloc(size), size);
}

static void drop(int from, int to)
{
	for (int i = from; i < to; i++) {
		must(slots[i].p != NULL, "free");
		free(slots[i].p);
		slots[i] = (struct slot){0};
	}
}

static void grow(int from, int to, size_t size)
{
	for (int i = from; i < to; i++) {
		void *p = grow_alloc(slots[i].p, size);

		slots[i] = (struct slot){0};
		put(i, GROW_ALLOC, p, size);
	}
}

static void fail_to_grow(int from, int to)
{
	for (int i = from; i < to; i++)
		must(grow_alloc(slots[i].p, SIZE_MAX / 4) == NULL, "failing realloc");
}

/* Frees blocks and gets the same addresses again. */
static void renew(int from, int to)
{
	for (int i = from; i < to; i++) {
		struct slot old = slots[i];

		drop(i, i + 1);
		put(i, NEW_ALLOC, new_alloc(old.size), old.size);
		must(slots[i].p == old.p, "same address");
	}
}

static void unmap(int at, size_t skip, size_t size)
{
	struct slot *slot = &slots[at];

	must(munmap(slot->p + skip, size) == 0, "munmap");
	slot->size -= size;
	if (!slot->size)
		*slot = (struct slot){0};
}

static void tell(const char *word)
{
	for (int function = 0; function < FUNCTIONS; function++) {
		size_t count = 0, bytes = 0, inherited = 0;

		for (int i = 0; i < SLOTS; i++) {
			if (!slots[i].p || (int)slots[i].function != function)
				continue;
			count++;
			bytes += slots[i].size;
			inherited += slots[i].inherited;
		}
		if (count)
			say("%s %d %s %zu %zu %s %zu\n", word, getpid(), names[function], count,
			    bytes, function == MAP_ALLOC ? "mmap" : "heap", inherited);
	}
}

static void at(int number)
{
	while (__atomic_load_n(turn, __ATOMIC_SEQ_CST) != number)
		usleep(200);
	if (number)
		usleep((useconds_t)pace_ms * 1000);
}

static void done(void)
{
	__atomic_add_fetch(turn, 1, __ATOMIC_SEQ_CST);
}

/* Until its parent ends. */
static void wait_end(int fd)
{
	char byte;

	must(read(fd, &byte, 1) == 0, "pipe");
	_exit(0);
}

static void execute(void)
{
	char fd[16];

	snprintf(fd, sizeof(fd), "%d", hold[0]);
	execl(self, self, "stay", fd, NULL);
	_exit(99);
}

/* A child has executed a program. */
static void wait_executed(void)
{
	char byte;

	close(executed[1]);
	must(read(executed[0], &byte, 1) == 0, "exec");
}

/* The last thing that a child does. */
static void stay(void)
{
	tell("holds");
	done();
	wait_end(hold[0]);
}

static pid_t fork_child(void)
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (pid)
		return pid;
	close(hold[1]);
	for (int i = 0; i < SLOTS; i++)
		slots[i].inherited = true;
	return 0;
}

/* Child and parent free the same and others, in either order; the child has some of its own. */
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
		take(0, 5, FIRST_ALLOC, first_alloc, 100); /* at a site of its parent's */
		stay();
	}
	at(1);
	drop(0, 5);
	drop(20, 40);
	drop(70, 72);
	done();
	at(3);
}

/* Ends after its parent, when the runner does. */
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

/* One child before, one between, one after its parent had other blocks at the same addresses. */
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
		grow(22, 25, 3000); /* its parent's are others by now */
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

/* Whoever forks gives what it has then. */
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

/* The one between grandparent and grandchild is no more: it ends, or executes a program. */
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

/* What a child had is gone when it executes a program. */
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

/* Many blocks and children, of which each has freed some. */
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

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	self = argv[0];
	pace_ms = argc > 2 ? atoi(argv[2]) : 0;
	if (!strcmp(name, "stay"))
		wait_end(pace_ms);
	turn = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(turn != MAP_FAILED && pipe(hold) == 0 && pipe2(executed, O_CLOEXEC) == 0,
	     "pipe");
	ready();
	take(0, 50, FIRST_ALLOC, first_alloc, 100);
	take(50, 100, SECOND_ALLOC, second_alloc, 200);
	if (!strcmp(name, "frees"))
		run_frees();
	else if (!strcmp(name, "orphan"))
		run_orphan();
	else if (!strcmp(name, "nothing"))
		run_nothing();
	else if (!strcmp(name, "same_address"))
		run_same_address();
	else if (!strcmp(name, "realloc"))
		run_realloc();
	else if (!strcmp(name, "grandchild"))
		run_grandchild();
	else if (!strcmp(name, "exit"))
		run_gone(false);
	else if (!strcmp(name, "gone_exec"))
		run_gone(true);
	else if (!strcmp(name, "exec"))
		run_exec();
	else if (!strcmp(name, "mappings"))
		run_mappings();
	else if (!strcmp(name, "many"))
		run_many();
	else
		must(0, "name");
	tell("holds");
	ready();
	return 0;
}
