/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers that programs and loader both write, so that the programs can tell the loader when one
 * reaches its limit; a part of the ABI.
 */
#ifndef BPF_WATCHES_H
#define BPF_WATCHES_H

#include <linux/types.h>

/* How full the table of stacks is. The programs write it without a lock, so it is about right. */
struct memleak_stack_watch {
	__u64 stored;
	__u64 limit; /* the loader gets a record when it is reached */
	__u64 told;
};

/* How many blocks were put into the first table of blocks since the loader looked at it. */
struct memleak_block_watch {
	__u64 stored;
	__u64 limit; /* the loader gets a record when it is reached */
	__u64 told;
};

/*
 * --peak: how much is outstanding in all. The programs add blocks, the loader what they do not see:
 * mappings, and blocks of images that are gone.
 */
struct memleak_peak_watch {
	__u64 total;
	__u64 highest; /* the most that was outstanding; if two threads raise it at once, the lower
			  value may stay */
	__u64 limit;   /* the loader gets a record when it is reached */
	__u64 told;
};

/* How many deferred stacks may be sent; each costs the process some 10 us. */
struct memleak_deferred_watch {
	__u64 ring_bytes;
	__u64 sent;
	__u64 limit; /* the loader raises it when there is new code to be walked */
};

#endif
