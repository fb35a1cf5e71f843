/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thing is something that a program can create, such as a pipe, and for which the kernel
 * allocates a known number of blocks. Making things needs only system calls that Linux 5.10 has.
 */
#ifndef KERNEL_THINGS_H
#define KERNEL_THINGS_H

#include <sys/mman.h>

#include "truth.h"

struct thing {
	const char *name;
	const char *kind;			/* kind of blocks: slab, page, percpu */
	int size;				/* default size */
	void (*init)(int cnt, int size);	/* prepares to make cnt things */
	void (*make)(int i, int size);		/* makes thing i, in any thread */
	void (*drop)(int i, int size);
	long (*bytes)(int size);		/* returns the size of a block; NULL if unknown */
	int (*blocks)(int size);		/* returns the block count per thing; NULL if 1 */
};

/* Arrays of things. The last element of each array has no name. */
extern const struct thing slab_things[], page_things[];

/* Handles by which the program frees things: descriptors, keys or addresses. */
struct handles {
	long *at;
};

static inline void handles_init(struct handles *h, int cnt)
{
	h->at = mmap(NULL, (cnt + 1) * sizeof(*h->at), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	must(h->at != MAP_FAILED, "memory for handles");
}

/*
 * Prints that this machine lacks something, and ends the program. The runner then skips the test
 * case.
 */
__attribute__((noreturn)) static inline void missing(const char *what)
{
	say("missing %s\nready\n", what);
	wait_byte();
	_exit(0);
}

/*
 * Enters a new IPC namespace. All IPC objects in the namespace are removed when the process ends,
 * even if it is killed.
 */
void enter_own_ipc(void);
/* Enters a new network namespace and brings its loopback interface up. */
void enter_own_net(void);

#endif
