/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of a proof: whether anything in a process's memory points to the blocks of its heap. The
 * terms are valgrind's; proof/marking.h defines them.
 */
#ifndef REPORT_REACH_H
#define REPORT_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum reach { REACH_DEFINITE, REACH_INDIRECT, REACH_POSSIBLE, REACH_REACHABLE, REACH_CNT };

/* How the picture of a process's memory was taken. Recordings store the numbers. */
enum proof_method {
	PROOF_NONE,   /* no picture was taken */
	PROOF_STILL,  /* no thread of the process was running */
	PROOF_CLONE,  /* the process's memory was copied first */
	PROOF_FREEZE, /* running threads were stopped while memory was read */
	PROOF_ENDED,  /* the process was stopped at its end */
	PROOF_CORE,   /* the process left a core file */
	PROOF_METHOD_CNT,
};

struct reach_sum {
	uint64_t bytes;
	uint64_t count;
};

/* Blocks of a site that are reachable only from lost blocks of another site. */
struct hanging_sum {
	uint64_t site; /* id of the site of these blocks */
	uint64_t head; /* id of the site of the lost blocks */
	struct reach_sum of;
};

/* Where a pointer to a block is stored. Recordings store the numbers. */
enum holder_kind {
	HOLDER_GLOBAL,   /* in a variable of a program or library, or in a mapped file */
	HOLDER_STACK,    /* on the stack of a thread */
	HOLDER_REGISTER, /* in a register of a thread */
	HOLDER_KERNEL,   /* in epoll or timer data in the kernel */
	HOLDER_HEAP,     /* in a heap block that memleak does not know */
	HOLDER_MEMORY,   /* in any other mapping */
	HOLDER_BLOCK,    /* in a block of a site */
	HOLDER_SCRIPT,   /* in a variable of a script */
	HOLDER_KIND_CNT,
};

struct site;

struct holder {
	enum holder_kind kind;
	uint64_t addr; /* address of the pointer, if it is in memory */
	pid_t tid;     /* thread of a stack or register */
	uint64_t code; /* stack: address in the function that owns the frame; 0 if not known */
	/* Path of the mapping, or name of the thread or variable, raw bytes; NULL if none. */
	const char *path;
	bool is_likely;          /* root: its link to the chain was inferred */
	const char *words;       /* text from a recording, for other holders than blocks; or NULL */
	const struct site *site; /* site of a block; NULL if not in the snapshot */
	uint64_t repeats;        /* number of consecutive blocks of site in the chain */
};

/* Results of a proof for the blocks of a site. */
struct site_reach {
	struct reach_sum of[REACH_CNT];
	/*
	 * lost: blocks that are definite in two pictures, or at the process's end. hanging: blocks
	 * of any site that are reachable only from those lost blocks.
	 */
	struct reach_sum lost;
	struct reach_sum hanging;
	double lost_per_s;    /* lost blocks per second since the last proof; 0 if not known */
	uint64_t lost_for_ns; /* time since a block of the site was first found lost */
	/* Chain of holders of most of the reachable blocks, root first; empty if not searched. */
	const struct holder *held_by;
	size_t held_by_cnt;
	bool proved; /* the proof covers the heap of the site's process */
};

/* Facts about the proof behind a report. */
struct proof_facts {
	enum proof_method method; /* most intrusive method used: the one with the highest number */
	uint64_t stopped_ns;      /* longest time that a thread was stopped */
	uint64_t scanned_bytes;
	uint64_t pictures; /* pictures behind each verdict of "lost": 1 or 2 */
	uint64_t processes;
	uint64_t unproved; /* processes whose memory could not be examined */
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
