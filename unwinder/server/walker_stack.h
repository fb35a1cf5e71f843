/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stack walked by libdwfl. */
#ifndef UNWINDER_SERVER_WALKER_STACK_H
#define UNWINDER_SERVER_WALKER_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* Maximum number of frames of libdwfl's walk: more than in walks of BPF programs. */
#define WALKER_FRAMES_MAX 640

enum walker_end {
	WALKER_FINISHED,
	WALKER_FAILED, /* libdwfl could not find the next frame */
	WALKER_BEYOND, /* the walk needs the stack above the copied part */
	WALKER_LIMIT,  /* the walk reached WALKER_FRAMES_MAX */
	WALKER_END_CNT,
};

/* A file mapping that contains code. */
struct walker_code {
	uint64_t start;
	uint64_t offset; /* file offset that is mapped at start */
	/*
	 * address of the nearest mapping of the file's beginning, not above `start`; 0 if unknown
	 */
	uint64_t headers;
};

/*
 * The frames of a walk by libdwfl, innermost first. Return addresses are stored as they are, with
 * nothing subtracted.
 */
struct walker_stack {
	uint64_t frames[WALKER_FRAMES_MAX];
	size_t cnt;
	enum walker_end end;
};

#endif
