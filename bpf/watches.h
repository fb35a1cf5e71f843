/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures that programs and loader both write, each to be told by the other; a part of the ABI. */
#ifndef MEMLEAK_WATCHES_H
#define MEMLEAK_WATCHES_H

#include <linux/types.h>

/* How full the table of stacks is; written by the programs without a lock: about so. */
struct memleak_stack_watch {
	__u64 stored;
	__u64 limit; /* the loader wants to know when it is reached */
	__u64 told;
};

/*
 * --peak: what is outstanding in all. The programs add blocks, the loader what they do not see:
 * mappings, and blocks of images that are no more.
 */
struct memleak_peak_watch {
	__u64 total;
	__u64 highest; /* the most that it was; of two threads that raise it the lower may stay */
	__u64 limit;   /* the loader wants to know when it is reached */
	__u64 told;
};

/* How many late stacks may be sent; each costs the process some 10 us. */
struct memleak_late_watch {
	__u64 ring_bytes;
	__u64 sent;
	__u64 limit; /* the loader raises it when there is new code to be met */
};

#endif
