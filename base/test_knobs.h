/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Environment variables for tests. Some disable a feature of the machine, so that code for older
 * kernels is tested on a newer kernel. They are read only by builds with `make TEST_KNOBS=1`.
 */
#ifndef BASE_TEST_KNOBS_H
#define BASE_TEST_KNOBS_H

#include <stddef.h>
#include <stdint.h>

enum test_knob {
	/* MEMLEAK_AGENT_SINCE: ignore blocks that agents recorded before tracing began */
	TEST_KNOB_AGENT_SINCE,
	TEST_KNOB_FIRST_BLOCKS, /* MEMLEAK_FIRST_BLOCKS: size of the first of two block tables */
	/* MEMLEAK_KERNEL_HOOKS: kind of kernel hooks: "fentry", "kprobe" or "none" */
	TEST_KNOB_KERNEL_HOOKS,
	/* MEMLEAK_KERNEL_PROGRAMS: program type: "tp_btf" or "raw_tp" */
	TEST_KNOB_KERNEL_PROGRAMS,
	/*
	 * MEMLEAK_LINKS: kind of uprobe links to use instead of "session": "multi", "perf" or
	 * "shape"
	 */
	TEST_KNOB_LINKS,
	/* MEMLEAK_PATIENCE: factor on time limits for finding names and for reading processes */
	TEST_KNOB_PATIENCE,
	TEST_KNOB_PLACE, /* MEMLEAK_PLACE: "entry" places all probes on first instructions */
	/* MEMLEAK_POOL_ROUND_MS: interval between searches for unused probes */
	TEST_KNOB_POOL_ROUND_MS,
	/* MEMLEAK_RECENT_BUCKETS: number of buckets of the recent-block cache; 0: no cache */
	TEST_KNOB_RECENT_BUCKETS,
	TEST_KNOB_RECORDS_BYTES, /* MEMLEAK_RECORDS_BYTES: size of the record ring */
	/* MEMLEAK_SECCOMP: "kills": act as if return probes were fatal under seccomp filters */
	TEST_KNOB_SECCOMP,
	TEST_KNOB_STACK_CACHE, /* MEMLEAK_STACK_CACHE: "no" disables the stack cache */
	/* MEMLEAK_VERIFY_UNWIND: number of stacks to compare with libdwfl */
	TEST_KNOB_VERIFY_UNWIND,
};

/*
 * test_knob() returns the knob's value; NULL if the knob is not set or the build has no test knobs.
 * patient_ns() returns within_ns, or a longer time if tests on slow machines have requested this.
 */
const char *test_knob(enum test_knob knob);
uint64_t patient_ns(uint64_t within_ns);

#endif
