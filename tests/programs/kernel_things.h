/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel can be made to hold, in exact amounts: one entry for each kind of thing. Only
 * system calls that exist since Linux 5.10. Knows nothing of memleak.
 */
#ifndef KERNEL_THINGS_H
#define KERNEL_THINGS_H

#include <sys/mman.h>

#include "truth.h"

struct thing {
	const char *name;
	const char *kind;			/* of its blocks: slab, page, percpu */
	int size;				/* if the command line names none */
	void (*init)(int cnt, int size);	/* before anything else, for so many */
	void (*make)(int i, int size);		/* may be called by several threads */
	void (*drop)(int i, int size);
	long (*bytes)(int size);		/* of one block; NULL: not known here */
	int (*blocks)(int size);		/* in one thing; NULL: one */
};

/* Each ends with an empty name. */
extern const struct thing slab_things[], page_things[];

/* One array for whatever stands for a thing: a descriptor, a key, an address. */
struct handles {
	long *at;
};

static inline void handles_init(struct handles *h, int cnt)
{
	h->at = mmap(NULL, (cnt + 1) * sizeof(*h->at), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	must(h->at != MAP_FAILED, "memory for handles");
}

/* This machine cannot do it, and nobody is to blame. */
__attribute__((noreturn)) static inline void missing(const char *what)
{
	say("missing %s\nready\n", what);
	wait_byte();
	_exit(0);
}

/* IPC objects of a namespace of its own end with the process, however it ends. */
void enter_own_ipc(void);
/* The same with network interfaces, of which lo is up. */
void enter_own_net(void);

#endif
