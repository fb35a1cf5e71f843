/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts with limits, shared by the BPF programs and the loader. Part of the ABI. */
#ifndef BPF_WATCHES_H
#define BPF_WATCHES_H

#include <linux/types.h>

/*
 * Number of stacks in the stack table. BPF programs and loader change the number without a lock, so
 * it is approximate.
 */
struct memleak_stack_watch {
	__u64 stored;
	__u64 limit; /* a record is sent when the count reaches this limit */
	__u64 is_sent;
};

/*
 * Number of blocks in the first block table when the loader last counted them, plus the number of
 * blocks stored since.
 */
struct memleak_block_watch {
	__u64 stored;
	__u64 limit; /* a record is sent when the count reaches this limit */
	__u64 is_sent;
};

/*
 * --peak: total of outstanding bytes. The BPF programs add and subtract blocks; the loader adds
 * mappings and subtracts blocks of images that are gone.
 */
struct memleak_peak_watch {
	__u64 total;
	__u64 highest; /* maximum of `total`; may be too low after a race of two threads */
	__u64 limit;   /* a record is sent when the total reaches this limit */
	__u64 is_sent;
};

/*
 * Limits the deferred stacks sent to the loader; each takes about 10 us of the traced thread's
 * time.
 */
struct memleak_deferred_watch {
	__u64 ring_bytes;
	__u64 sent;
	__u64 limit; /* maximum of `sent`; raised by the loader when there is new code to walk */
};

#endif
