/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stack walked by libdwfl, and its comparison with another walk of the stack. */
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

enum agreement_verdict {
	AGREEMENT_SAME,
	AGREEMENT_DIFFERS, /* frames differ, or one walk ends where the other continues */
	/*
	 * no difference found; the other walk failed, but libdwfl's finished, or ended as
	 * WALKER_BEYOND or WALKER_LIMIT after more frames
	 */
	AGREEMENT_ONLY_WALKER,
	AGREEMENT_ONLY_WALK, /* no difference found; libdwfl's walk failed, the other did not */
	AGREEMENT_NEITHER,   /* no difference found; both walks failed */
	/* no difference found as far as libdwfl could walk (WALKER_BEYOND or WALKER_LIMIT) */
	AGREEMENT_BEYOND,
	AGREEMENT_CNT,
};

struct agreement {
	enum agreement_verdict verdict;
	/* number of frames compared, without the first frame, which both walks were given */
	size_t compared;
	size_t last; /* index of the last frame up to which both walks are equal */
};

/* Compares a walk of at least one frame, which ended with `end`, with libdwfl's walk. */
struct agreement agreement_find(const uint64_t *frames, size_t cnt, enum unwind_end end,
				const struct walker_stack *walker);

#endif
