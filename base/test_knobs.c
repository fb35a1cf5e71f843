// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the test knobs from the environment. Linked into unit tests and by `make TEST_KNOBS=1`. */
#include "base/test_knobs.h"

#include <stdlib.h>

/*
 * Marks programs with test knobs: tests/lib/context.py searches the program's file for this text.
 */
__attribute__((used)) static const char marker[] = "memleak: test knobs";

const char *test_knob(enum test_knob knob)
{
	static const char *const names[] = {
		[TEST_KNOB_AGENT_SINCE] = "MEMLEAK_AGENT_SINCE",
		[TEST_KNOB_FIRST_BLOCKS] = "MEMLEAK_FIRST_BLOCKS",
		[TEST_KNOB_HOOK] = "MEMLEAK_HOOK",
		[TEST_KNOB_KERNEL_HOOKS] = "MEMLEAK_KERNEL_HOOKS",
		[TEST_KNOB_KERNEL_PROGRAMS] = "MEMLEAK_KERNEL_PROGRAMS",
		[TEST_KNOB_LINKS] = "MEMLEAK_LINKS",
		[TEST_KNOB_PATIENCE] = "MEMLEAK_PATIENCE",
		[TEST_KNOB_PLACE] = "MEMLEAK_PLACE",
		[TEST_KNOB_POOL_ROUND_MS] = "MEMLEAK_POOL_ROUND_MS",
		[TEST_KNOB_RECENT_BUCKETS] = "MEMLEAK_RECENT_BUCKETS",
		[TEST_KNOB_RECORDS_BYTES] = "MEMLEAK_RECORDS_BYTES",
		[TEST_KNOB_SAMPLING_STEP] = "MEMLEAK_SAMPLING_STEP",
		[TEST_KNOB_SCRIPTS] = "MEMLEAK_SCRIPTS",
		[TEST_KNOB_SECCOMP] = "MEMLEAK_SECCOMP",
		[TEST_KNOB_STACK_CACHE] = "MEMLEAK_STACK_CACHE",
	};

	return getenv(names[knob]);
}

uint64_t patient_ns(uint64_t within_ns)
{
	const char *times = test_knob(TEST_KNOB_PATIENCE);

	return times ? within_ns * strtoul(times, NULL, 10) : within_ns;
}
