/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --peak watches; a part of the ABI. */
#ifndef MEMLEAK_PEAK_H
#define MEMLEAK_PEAK_H

#include <linux/types.h>

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

#endif
