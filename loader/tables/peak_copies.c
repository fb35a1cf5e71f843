// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps one copy of the outstanding blocks: the largest that was made so far. At most half of the
 * time is spent on making copies.
 */
#include "loader/tables/peak_copies.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/log.h"

/*
 * Growth of the peak after which a new copy is due: 1/16 of the peak, but at least STEP_MIN bytes
 */
#define SHARE 16
#define STEP_MIN 4096

/* Keeps the larger of two copies. Returns true if the new copy is larger. */
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
	 * If the new copy is not larger than the old one, it was probably made after a short peak.
	 * The next copy is then due only at a higher peak.
	 */
	if (!better && highest > most)
		most = highest;
	return most + (most / SHARE > STEP_MIN ? most / SHARE : STEP_MIN);
}
