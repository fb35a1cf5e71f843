/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Environment variables for tests. Some make memleak ignore a feature of the kernel, so that code
 * for older kernels is tested on a newer kernel. Only builds with `make TEST_KNOBS=1` read them.
 */
#ifndef BASE_TEST_KNOBS_H
#define BASE_TEST_KNOBS_H

#include <stddef.h>
#include <stdint.h>

enum test_knob {
	/* MEMLEAK_AGENT_SINCE: ignore blocks that agents recorded before tracing began */
	TEST_KNOB_AGENT_SINCE,
	/* MEMLEAK_FIRST_BLOCKS: capacity of the first of the two block tables */
	TEST_KNOB_FIRST_BLOCKS,
	/* MEMLEAK_HOOK: "lost": do not make a command trap in the dynamic loader's hook */
	TEST_KNOB_HOOK,
	/* MEMLEAK_KERNEL_HOOKS: how to hook kernel functions: "fentry", "kprobe" or "none" */
	TEST_KNOB_KERNEL_HOOKS,
	/* MEMLEAK_KERNEL_PROGRAMS: type of BPF programs for kernel memory: "tp_btf" or "raw_tp" */
	TEST_KNOB_KERNEL_PROGRAMS,
	/*
	 * MEMLEAK_LINKS: kind of uprobe links to use instead of "session": "multi", "perf" or
	 * "shape"
	 */
	TEST_KNOB_LINKS,
	/* MEMLEAK_PATIENCE: factor by which patient_ns() multiplies time limits */
	TEST_KNOB_PATIENCE,
	/* MEMLEAK_PLACE: "entry" places each probe on the first instruction of the function */
	TEST_KNOB_PLACE,
	/* MEMLEAK_POOL_ROUND_MS: interval, in ms, between searches for unused probes */
	TEST_KNOB_POOL_ROUND_MS,
	/* MEMLEAK_RECENT_BUCKETS: number of buckets of the recent-block cache; 0: no cache */
	TEST_KNOB_RECENT_BUCKETS,
	/* MEMLEAK_RECORDS_BYTES: size, in bytes, of the BPF ring buffer for records */
	TEST_KNOB_RECORDS_BYTES,
	/* MEMLEAK_SAMPLING_STEP: path of a file that has the sampling step of --max-overhead */
	TEST_KNOB_SAMPLING_STEP,
	TEST_KNOB_SCRIPTS, /* MEMLEAK_SCRIPTS: "no": do not read the frames of scripts */
	/* MEMLEAK_SECCOMP: "kills": assume that seccomp kills processes with return probes */
	TEST_KNOB_SECCOMP,
	TEST_KNOB_STACK_CACHE, /* MEMLEAK_STACK_CACHE: "no" disables the stack cache */
};

/*
 * test_knob() returns the value of the environment variable; NULL if the variable is not set or the
 * build has no test knobs. patient_ns() returns within_ns multiplied by MEMLEAK_PATIENCE, if that
 * is set.
 */
const char *test_knob(enum test_knob knob);
uint64_t patient_ns(uint64_t within_ns);

#endif
