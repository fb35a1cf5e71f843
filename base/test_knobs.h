/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tests may choose that users may not: environment variables that have memleak do without
 * something the machine has, so that the ways of older kernels are tested on a newer one. They
 * exist only in a build with `make TEST_KNOBS=1`.
 */
#ifndef BASE_TEST_KNOBS_H
#define BASE_TEST_KNOBS_H

#include <stddef.h>

enum test_knob {
	TEST_KNOB_AGENT_SINCE,  /* MEMLEAK_AGENT_SINCE: "join": as where probes are placed then */
	TEST_KNOB_FIRST_BLOCKS, /* MEMLEAK_FIRST_BLOCKS: of the first of two tables */
	TEST_KNOB_KERNEL_HOOKS, /* MEMLEAK_KERNEL_HOOKS: "fentry", "kprobe" or "none" */
	TEST_KNOB_KERNEL_PROGRAMS, /* MEMLEAK_KERNEL_PROGRAMS: "tp_btf", "raw_tp", "classic" */
	TEST_KNOB_LINKS,           /* MEMLEAK_LINKS: "multi", "perf" or "shape", not "session" */
	TEST_KNOB_PATIENCE, /* MEMLEAK_PATIENCE: reports wait this many times longer for names */
	TEST_KNOB_PLACE,    /* MEMLEAK_PLACE: "entry": probes at first instructions only */
	TEST_KNOB_POOL_ROUND_MS,  /* MEMLEAK_POOL_ROUND_MS: how soon unused probes go */
	TEST_KNOB_RECENT_BUCKETS, /* MEMLEAK_RECENT_BUCKETS: of the cache; 0: none */
	TEST_KNOB_RECORDS_BYTES,  /* MEMLEAK_RECORDS_BYTES: of the ring of records */
	TEST_KNOB_SECCOMP,        /* MEMLEAK_SECCOMP: "kills", as return probes once did */
	TEST_KNOB_STACK_CACHE,    /* MEMLEAK_STACK_CACHE: "no": each stack is walked anew */
	TEST_KNOB_VERIFY_UNWIND,  /* MEMLEAK_VERIFY_UNWIND: so many are walked by libdwfl, too */
};

/* The knob's value; NULL: it is not set, or this build has none. */
#ifdef TEST_KNOBS
const char *test_knob(enum test_knob knob);
#else
static inline const char *test_knob(enum test_knob knob)
{
	return NULL;
}
#endif

#endif
