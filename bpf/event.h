/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of -t in the ring buffer. Part of the ABI. */
#ifndef BPF_EVENT_H
#define BPF_EVENT_H

#include <linux/types.h>

#define MEMLEAK_COMM_SIZE 16 /* size of a task's name */

enum memleak_event_type {
	MEMLEAK_EVENT_ALLOC,
	MEMLEAK_EVENT_FREE,
};

#define MEMLEAK_SIZE_UNKNOWN (~0ULL)

struct memleak_event {
	__u32 type;
	__u32 image;
	__u32 tgid;
	__u32 tid;
	__u64 time_ns;
	/* user events: address of the function; kernel events: enum memleak_kernel_event */
	__u64 function;
	__u64 addr;
	__u64 size;  /* block's size; MEMLEAK_SIZE_UNKNOWN for the free of an untracked block */
	__u64 stack; /* key of the stack in the stack table; 0 if unknown or not requested */
	char comm[MEMLEAK_COMM_SIZE]; /* kernel events: the task's name */
};

#endif
