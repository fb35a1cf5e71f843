/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data of --summary for each image. Part of the ABI. */
#ifndef BPF_SUMMARY_H
#define BPF_SUMMARY_H

#include "bpf/memleak.h"

/* Totals of heap calls. */
struct memleak_summary {
	__u64 allocated; /* all totals except `calls` are in bytes */
	__u64 outstanding;
	__u64 peak; /* maximum of `outstanding` */
	__u64 largest;
	__u64 calls[MEMLEAK_SHAPE_CNT];
};

#endif
