// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the offset between the time namespace's CLOCK_MONOTONIC and the kernel's unshifted clock.
 */
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"

int64_t clock_ahead_ns;

/*
 * True if /proc/self/timens_offsets applies to this process. The file shows the offsets for child
 * processes, which may be in another time namespace.
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
