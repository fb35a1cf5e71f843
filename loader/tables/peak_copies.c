// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the copy that has most, and leaves half of the time for other work. */
#include "loader/tables/peak_copies.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/log.h"

/* A sixteenth, but not each of the first few bytes. */
#define SHARE 16
#define STEP_MIN 4096

/* An older copy stays if it has more; returns whether it does not. */
static bool keep(struct peak *kept, struct snapshot *snap)
{
	struct peak copy = peak_from(snap);
	bool better = copy.bytes > kept->bytes;

	peak_deinit(better ? kept : &copy);
	if (better)
		*kept = copy;
	return better;
}

uint64_t peak_copies_keep(struct peak_copies *copies, struct snapshot *snap, uint64_t begin_ns,
			  uint64_t highest)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC) - begin_ns, most;
	bool better = keep(&copies->kept, snap);

	copies->not_before_ns = begin_ns + 2 * ns;
	most = copies->kept.bytes;
	log_verbose("peak: a copy took %" PRIu64 " us; the best one has %" PRIu64 " bytes",
		    ns / 1000, most);
	/*
	 * What comes and goes faster than it is copied is not waited for again: after a copy that
	 * came too late there must be more than ever.
	 */
	if (!better && highest > most)
		most = highest;
	return most + (most / SHARE > STEP_MIN ? most / SHARE : STEP_MIN);
}
