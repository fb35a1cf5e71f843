/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stack as libdwfl walks it, and how it compares with another walk of the same. */
#ifndef UNWINDER_SERVER_WALKER_STACK_H
#define UNWINDER_SERVER_WALKER_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* More than any walk that it is compared with keeps. */
#define WALKER_FRAMES_MAX 640

enum walker_end {
	WALKER_FINISHED,
	WALKER_FAILED, /* it found no way on */
	WALKER_BEYOND, /* its way leads out of the memory that was copied */
	WALKER_LIMIT,  /* WALKER_FRAMES_MAX */
	WALKER_END_CNT,
};

/* What a process has mapped of a file, as code. */
struct walker_code {
	uint64_t start;
	uint64_t offset;  /* of start, in the file */
	uint64_t headers; /* where the file's beginning is mapped, next below; 0: not known */
};

/* Innermost frame first; return addresses as they are. */
struct walker_stack {
	uint64_t frames[WALKER_FRAMES_MAX];
	size_t cnt;
	enum walker_end end;
};

enum agreement_verdict {
	AGREEMENT_SAME,
	AGREEMENT_DIFFERS,     /* frames differ, or one ends where the other goes on */
	AGREEMENT_ONLY_WALKER, /* only libdwfl finished; the frames that both have are equal */
	AGREEMENT_ONLY_WALK,   /* only the walk did */
	AGREEMENT_NEITHER,     /* neither did */
	AGREEMENT_BEYOND,      /* equal as far as the copied memory reaches */
	AGREEMENT_CNT,
};

struct agreement {
	enum agreement_verdict verdict;
	size_t compared; /* frames, without the first one, which is given */
	size_t last;     /* not SAME: the last frame before it came to that */
};

/* A walk that found frames, at least one, and ended so, beside libdwfl's. */
struct agreement agreement_find(const uint64_t *frames, size_t cnt, enum unwind_end end,
				const struct walker_stack *walker);

#endif
