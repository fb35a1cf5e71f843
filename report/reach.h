/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a proof says: of blocks of the heap, whether anything in the process's memory points to
 * them. The words are valgrind's; proof/marking.h says what they mean here.
 */
#ifndef REPORT_REACH_H
#define REPORT_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum reach { REACH_DEFINITE, REACH_INDIRECT, REACH_POSSIBLE, REACH_REACHABLE, REACH_CNT };

/* How a process's memory was seen as it was at one moment. Recordings hold these by number. */
enum proof_method {
	PROOF_NONE,   /* it was not */
	PROOF_STILL,  /* none of its threads ran */
	PROOF_CLONE,  /* a copy was made */
	PROOF_FREEZE, /* threads that ran were held while it was read */
	PROOF_ENDED,  /* the process was held at its end */
	PROOF_CORE,   /* it has ended, and left a core file */
	PROOF_METHOD_CNT,
};

struct reach_sum {
	uint64_t bytes;
	uint64_t count;
};

/* Of a site: what hangs from lost blocks of another one. */
struct hanging_sum {
	uint64_t site; /* ids */
	uint64_t head;
	struct reach_sum of;
};

/* Where a pointer stands. Recordings hold these by number. */
enum holder_kind {
	HOLDER_GLOBAL,   /* in a variable of a program or library, or in a file that is mapped */
	HOLDER_STACK,    /* of a thread */
	HOLDER_REGISTER, /* of a thread */
	HOLDER_KERNEL,   /* with events of epoll, and in timers */
	HOLDER_HEAP,     /* in a block that memleak does not know */
	HOLDER_MEMORY,   /* in a mapping that is nothing of these */
	HOLDER_BLOCK,    /* in a block of a site */
	HOLDER_SCRIPT,   /* with the variables of a script */
	HOLDER_KIND_CNT,
};

struct site;

struct holder {
	enum holder_kind kind;
	uint64_t addr; /* of the pointer, where it is in memory */
	pid_t tid;     /* of a stack or register */
	uint64_t code; /* of a stack: in the function whose frame has it; 0: not known */
	/* Of what is mapped there, or the name of the thread or of the script's variable, raw
	 * bytes; NULL: it has none. */
	const char *path;
	bool is_likely;          /* of the root: how the chain gets there was inferred */
	const char *words;       /* of what is no block, in a recording; NULL: not in words yet */
	const struct site *site; /* of a block, in the snapshot; NULL: it is not there; */
	uint64_t repeats;        /* and so many in a row are of it */
};

/* Of a site: what of it a proof has looked at. */
struct site_reach {
	struct reach_sum of[REACH_CNT];
	/*
	 * Definite in two pictures, or at the process's end; and what hangs from these blocks,
	 * whichever sites it is of.
	 */
	struct reach_sum lost;
	struct reach_sum hanging;
	double lost_per_s;    /* blocks, since the last proof; 0: not known */
	uint64_t lost_for_ns; /* since something of it was found to be lost */
	/* Who has pointers to most of what is reachable, from the root down; 0: not looked for. */
	const struct holder *held_by;
	size_t held_by_cnt;
	bool proved; /* it is of the heap of a process that was looked at */
};

/* Of a report. */
struct proof_facts {
	enum proof_method method; /* of the pictures the most harmful one: the last of the list */
	uint64_t stopped_ns;      /* the longest that a thread was held */
	uint64_t scanned_bytes;
	uint64_t pictures; /* that each verdict of "lost" rests on: 1 or 2 */
	uint64_t processes;
	uint64_t unproved; /* of these, so many could not be looked at */
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
