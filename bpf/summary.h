/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --summary keeps for each image; a part of the ABI. */
#ifndef BPF_SUMMARY_H
#define BPF_SUMMARY_H

#include "bpf/memleak.h"

/* Sums of malloc and its kin. */
struct memleak_summary {
	__u64 allocated; /* bytes, here and below */
	__u64 outstanding;
	__u64 peak; /* the most that was outstanding at once */
	__u64 largest;
	__u64 calls[MEMLEAK_SHAPE_CNT];
};

#endif
