// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forks a child that inherits blocks. Afterwards, parent and child overwrite different pointers, so
 * that some blocks are reachable in only one of the two processes. Prints what memleak's proof must
 * find in each process: "holds PID FUNCTION COUNT BYTES KIND INHERITED". KIND is reachable,
 * definite or indirect; INHERITED is 1 if the block was inherited, else 0.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "truth.h"

#define NODE 32
#define WIPED_BYTES (64 << 10)

#define MAKER(name)                                                                                \
	OWN_FRAME static void *name(void)                                                          \
	{                                                                                          \
		return keep(malloc(NODE));                                                         \
	}                                                                                          \
	OWN_FRAME static void *name(void)

MAKER(both_keep);       /* LEAK */
MAKER(parent_keeps);    /* LEAK */
MAKER(child_keeps);     /* LEAK */
MAKER(child_cuts_head); /* LEAK */
MAKER(child_cuts_tail); /* LEAK */
MAKER(nobody_keeps);    /* LEAK */
MAKER(child_loses);     /* LEAK */
MAKER(child_has);       /* LEAK */

static void *volatile held[8];

OWN_FRAME static void wipe(void)
{
	volatile char below[WIPED_BYTES];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
}

OWN_FRAME static void plant(void)
{
	void **head = child_cuts_head();

	held[0] = both_keep();
	held[1] = parent_keeps();
	held[2] = child_keeps();
	held[3] = head;
	head[0] = child_cuts_tail();
	nobody_keeps();
}

OWN_FRAME static void inherit(void)
{
	held[1] = held[3] = NULL;
	held[4] = child_has();
	child_loses();
}

static void holds(pid_t pid, const char *function, const char *kind, int inherited)
{
	say("holds %d %s 1 %d %s %d\n", (int)pid, function, NODE, kind, inherited);
}

static void say_truth(pid_t parent, pid_t child)
{
	holds(parent, "both_keep", "reachable", 0);
	holds(parent, "parent_keeps", "reachable", 0);
	holds(parent, "child_keeps", "definite", 0);
	holds(parent, "child_cuts_head", "reachable", 0);
	holds(parent, "child_cuts_tail", "reachable", 0);
	holds(parent, "nobody_keeps", "definite", 0);
	holds(child, "both_keep", "reachable", 1);
	holds(child, "parent_keeps", "definite", 1);
	holds(child, "child_keeps", "reachable", 1);
	holds(child, "child_cuts_head", "definite", 1);
	holds(child, "child_cuts_tail", "indirect", 1);
	holds(child, "nobody_keeps", "definite", 1);
	holds(child, "child_has", "reachable", 0);
	holds(child, "child_loses", "definite", 0);
}

/* Runs until the child is killed. */
OWN_FRAME static void be_child(int told)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	inherit();
	wipe();
	must(write(told, "", 1) == 1, "write");
	for (;;)
		pause();
}

int main(void)
{
	int told[2];
	pid_t child;
	char byte;

	must(!pipe(told), "pipe");
	wipe();
	ready();
	plant();
	wipe();
	child = fork();
	must(child >= 0, "fork");
	if (!child)
		be_child(told[1]);
	held[2] = NULL;
	must(read(told[0], &byte, 1) == 1, "read");
	say_truth(getpid(), child);
	wipe();
	ready();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
