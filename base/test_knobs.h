/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Environment variables for tests that disable a feature of the machine, so that code for older
 * kernels is tested on a newer one. Only in builds with `make TEST_KNOBS=1`.
 */
#ifndef BASE_TEST_KNOBS_H
#define BASE_TEST_KNOBS_H

#include <stddef.h>

enum test_knob {
	TEST_KNOB_AGENT_SINCE,     /* MEMLEAK_AGENT_SINCE: ignore agents' earlier blocks */
	TEST_KNOB_FIRST_BLOCKS,    /* MEMLEAK_FIRST_BLOCKS: size of the first of two block tables */
	TEST_KNOB_KERNEL_HOOKS,    /* MEMLEAK_KERNEL_HOOKS: "fentry", "kprobe" or "none" */
	TEST_KNOB_KERNEL_PROGRAMS, /* MEMLEAK_KERNEL_PROGRAMS: "tp_btf", "raw_tp" or "classic" */
	TEST_KNOB_LINKS,    /* MEMLEAK_LINKS: "multi", "perf" or "shape" instead of "session" */
	TEST_KNOB_PATIENCE, /* MEMLEAK_PATIENCE: factor for the time limit on names */
	TEST_KNOB_PLACE,    /* MEMLEAK_PLACE: "entry" places probes on first instructions only */
	TEST_KNOB_POOL_ROUND_MS,  /* MEMLEAK_POOL_ROUND_MS: sweep interval for unused probes */
	TEST_KNOB_RECENT_BUCKETS, /* MEMLEAK_RECENT_BUCKETS: recent-block buckets, or 0 */
	TEST_KNOB_RECORDS_BYTES,  /* MEMLEAK_RECORDS_BYTES: size of the record ring */
	/* MEMLEAK_SECCOMP: "kills": assume that seccomp filters kill at return probes */
	TEST_KNOB_SECCOMP,
	TEST_KNOB_STACK_CACHE, /* MEMLEAK_STACK_CACHE: "no" walks every stack */
	/* MEMLEAK_VERIFY_UNWIND: number of stacks to compare with libdwfl */
	TEST_KNOB_VERIFY_UNWIND,
};

/* Returns the knob's value; NULL if it is not set or the build has no knobs. */
#ifdef TEST_KNOBS
const char *test_knob(enum test_knob knob);
#else
static inline const char *test_knob(enum test_knob knob)
{
	return NULL;
}
#endif

#endif
