/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Part of inherited.c: the list of a process's blocks, operations on them, and the steps by which
 * parent and children take turns.
 */
#ifndef INHERITED_H
#define INHERITED_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

static int *turn;   /* number of the current step, in memory that all processes share */
static int hold[2]; /* a pipe: children end when its write end is closed */
static int executed[2]; /* a pipe whose write end is closed when a child has run exec */
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

/*
 * Replaces each block by a new block of equal size, which the allocator places at the same address.
 */
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

/* Waits until the write end of a pipe is closed, then ends this process. */
static void wait_end(int fd)
{
	char byte;

	must(read(fd, &byte, 1) == 0, "pipe");
	_exit(0);
}

static void execute(void)
{
	char end[16], begun[16];

	snprintf(end, sizeof(end), "%d", hold[0]);
	snprintf(begun, sizeof(begun), "%d", executed[1]);
	execl(self, self, "stay", end, begun, NULL);
	_exit(99);
}

/*
 * Waits until a child has executed this program again, and the executed program has closed the pipe
 * `executed`. With O_CLOEXEC, the kernel would close the pipe too early: before it reports the exec
 * to memleak.
 */
static void wait_executed(void)
{
	char byte;

	close(executed[1]);
	must(read(executed[0], &byte, 1) == 0, "exec");
}

/*
 * Last step of a child: prints the child's blocks, waits until the pipe `hold` is closed, and ends
 * the child.
 */
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

#endif
