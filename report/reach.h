/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of a proof. A proof finds out, for each heap block of a process, whether anything in the
 * memory of the process points to the block. The terms are those of valgrind; proof/marks.h defines
 * them.
 */
#ifndef REPORT_REACH_H
#define REPORT_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum reach { REACH_DEFINITE, REACH_INDIRECT, REACH_POSSIBLE, REACH_REACHABLE, REACH_CNT };

/* How the picture of a process's memory was taken. Recordings store these numbers. */
enum proof_method {
	PROOF_NONE,   /* no picture was taken */
	PROOF_STILL,  /* no thread of the process was running */
	PROOF_CLONE,  /* a copy of the process was made, and the memory of the copy was read */
	PROOF_FREEZE, /* running threads were stopped while the memory was read */
	PROOF_ENDED,  /* the process was paused at its end */
	PROOF_CORE,   /* the process left a core file */
	PROOF_METHOD_CNT,
};

struct reach_sum {
	uint64_t bytes;
	uint64_t count;
};

/* Blocks of one site that are reachable only from definite blocks of another site. */
struct hanging_sum {
	uint64_t site; /* id of the site of the reachable blocks */
	uint64_t head; /* id of the site of the definite blocks */
	struct reach_sum of;
};

/* Where a pointer to a block is stored. Recordings store these numbers. */
enum holder_kind {
	HOLDER_GLOBAL,   /* in a variable of a program or library, or in a mapped file */
	HOLDER_STACK,    /* on the stack of a thread */
	HOLDER_REGISTER, /* in a register of a thread */
	HOLDER_KERNEL,   /* in the kernel, in the data of an epoll entry or of a timer */
	HOLDER_HEAP,     /* in a heap block that memleak does not track */
	HOLDER_MEMORY,   /* in any other mapping */
	HOLDER_BLOCK,    /* in a tracked block */
	HOLDER_SCRIPT,   /* in a variable of a script */
	HOLDER_KIND_CNT,
};

struct site;

struct holder {
	enum holder_kind kind;
	uint64_t addr; /* address of the pointer if it is in memory */
	pid_t tid;     /* thread whose stack or register has the pointer */
	/*
	 * For a stack: address in the function whose stack frame has the pointer; 0 if not known.
	 */
	uint64_t code;
	/*
	 * Path of the mapping, or name of the thread or variable, as raw bytes; NULL if not known.
	 */
	const char *path;
	/* true if some links of the chain of holders were inferred; set only in the root */
	bool is_likely;
	/*
	 * Text that describes the holder, if it is not a block and is from a recording; else NULL.
	 */
	const char *words;
	/* Site of a holder that is a block; NULL if the snapshot does not have the site. */
	const struct site *site;
	uint64_t repeats; /* number of consecutive blocks of the site in the chain */
};

/* Results of a proof for the blocks of a site. */
struct site_reach {
	struct reach_sum of[REACH_CNT];
	/*
	 * lost: blocks of the site that were definite in two pictures, or at the process's end.
	 * hanging: blocks of any site that are reachable only from the blocks in `lost`.
	 */
	struct reach_sum lost;
	struct reach_sum hanging;
	double lost_per_s;    /* lost blocks per second since the last proof; 0 if not known */
	uint64_t lost_for_ns; /* time since a block of the site was first found lost */
	/*
	 * Chain of holders of one reachable block, root first. If most of the site's reachable
	 * blocks have the same nearest holder, the block is one of these. Empty if no chain was
	 * found.
	 */
	const struct holder *held_by;
	size_t held_by_cnt;
	bool proved; /* true if the proof covers the heap of the site's process */
};

/* Facts about the proof behind a report. */
struct proof_facts {
	/* The most intrusive method used: the one with the highest number. */
	enum proof_method method;
	uint64_t stopped_ns; /* the longest time for which a thread was stopped */
	uint64_t scanned_bytes;
	/* Number of pictures in which a block must be definite to count as lost: 1 or 2. */
	uint64_t pictures;
	uint64_t processes;
	uint64_t unproved; /* number of processes whose memory could not be examined */
	struct reach_sum of[REACH_CNT];
};

static inline const char *reach_name(enum reach reach)
{
	static const char *const names[REACH_CNT] = {"definite", "indirect", "possible",
						     "reachable"};

	return names[reach];
}

static inline const char *proof_method_name(enum proof_method method)
{
	static const char *const names[PROOF_METHOD_CNT] = {"none",   "still", "clone",
							    "freeze", "ended", "core"};

	return names[method];
}

#endif
