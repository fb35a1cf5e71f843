// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Determines two differences: between the time namespace's CLOCK_MONOTONIC and the kernel's
 * unshifted clock, and between CLOCK_REALTIME and CLOCK_MONOTONIC.
 */
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/*
 * Maximum time, in nanoseconds, to read both clocks. If it takes longer, the thread was probably
 * interrupted in between, and both are read again.
 */
#define READING_NS 100000
#define READINGS_MAX 10
/*
 * Minimum change, in nanoseconds, of the difference between CLOCK_REALTIME and CLOCK_MONOTONIC.
 * Smaller changes are ignored.
 */
#define CHANGE_NS 1000000

int64_t clock_ahead_ns;

/*
 * True if the offsets in /proc/self/timens_offsets are those of this process. The file shows the
 * offsets for its child processes, which may be in another time namespace.
 */
static int offsets_are_own(void)
{
	struct stat own, children;

	return !stat("/proc/self/ns/time", &own) &&
	       !stat("/proc/self/ns/time_for_children", &children) && own.st_ino == children.st_ino;
}

void clock_read_offsets(void)
{
	cleanup_fclose FILE *file = fopen("/proc/self/timens_offsets", "re");
	int64_t seconds, ns;
	char clock[32];

	if (!file || !offsets_are_own())
		return;
	while (fscanf(file, "%31s %" SCNd64 " %" SCNd64, clock, &seconds, &ns) == 3)
		if (clock[0] == 'm' || (clock[0] == '0' + CLOCK_MONOTONIC && !clock[1]))
			clock_ahead_ns = seconds * 1000000000 + ns;
}

/*
 * Returns CLOCK_REALTIME minus CLOCK_MONOTONIC. If reading takes longer than READING_NS, reads both
 * clocks several times and uses the fastest reading.
 */
static int64_t read_difference(void)
{
	uint64_t shortest_ns = UINT64_MAX;
	int64_t ret = 0;

	for (int i = 0; i < READINGS_MAX && shortest_ns > READING_NS; i++) {
		uint64_t before_ns = clock_ns(CLOCK_MONOTONIC);
		uint64_t wall_ns = clock_ns(CLOCK_REALTIME);
		uint64_t taken_ns = clock_ns(CLOCK_MONOTONIC) - before_ns;

		if (taken_ns >= shortest_ns)
			continue;
		shortest_ns = taken_ns;
		ret = (int64_t)(wall_ns - before_ns);
	}
	return ret;
}

/*
 * Adds the same difference in each call, until it has changed by CHANGE_NS or more. Otherwise,
 * small errors in reading the clocks could reverse the order of two events.
 */
int64_t clock_wall_of(uint64_t monotonic_ns)
{
	static int64_t used;
	int64_t difference = read_difference(), last = __atomic_load_n(&used, __ATOMIC_RELAXED);

	if (llabs(difference - last) >= CHANGE_NS)
		__atomic_store_n(&used, difference, __ATOMIC_RELAXED);
	else
		difference = last;
	return difference + (int64_t)monotonic_ns;
}
