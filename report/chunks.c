// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the sizes and gains of the callers of a function that may have a chunk pool. */
#include "report/chunks.h"

#include <math.h>

/*
 * Minimum fraction of the chunks, in bytes, that have the usual size. Chunks for large requests may
 * differ in size.
 */
#define LEAST_USUAL 0.75

/*
 * Maximum fraction of the pool's bytes, and of its gain, that is due to one caller. Excludes
 * constructors of which one caller has most of the bytes.
 */
#define MOST_OF_ONE 0.3

void size_vote_add(struct size_vote *vote, uint64_t size, uint64_t bytes)
{
	if (size == vote->size) {
		vote->lead += bytes;
	} else if (vote->lead >= bytes) {
		vote->lead -= bytes;
	} else {
		vote->size = size;
		vote->lead = bytes - vote->lead;
	}
}

void chunk_use_add(struct chunk_use *use, double bytes, double gained)
{
	use->callers++;
	use->bytes += bytes;
	use->gained += gained;
	use->most_bytes = fmax(use->most_bytes, bytes);
	use->most_gained = fmax(use->most_gained, gained);
}

bool chunk_use_is_pool(const struct chunk_use *use, size_t least_callers)
{
	return use->callers >= least_callers && use->usual >= LEAST_USUAL * use->bytes &&
	       use->gained > 0 && use->most_gained <= MOST_OF_ONE * use->gained &&
	       use->most_bytes <= MOST_OF_ONE * use->bytes;
}
