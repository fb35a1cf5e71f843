/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the moments of earlier snapshots. If there are too many, keeps moments from the whole past,
 * and more of the recent past. Knows only times.
 */
#ifndef REPORT_MOMENTS_H
#define REPORT_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

/* Maximum number of moments, including the moment of the latest snapshot. */
#define MOMENTS_MAX 32
/* Number of latest moments that are always kept. */
#define RECENT_MOMENTS 8

/* Moments of snapshots before the latest one, oldest first. */
struct moments {
	uint64_t ns[MOMENTS_MAX];
	size_t cnt; /* less than MOMENTS_MAX */
};

/*
 * Returns the index of the moment to drop: the moment whose two neighbours are closest together,
 * relative to the moment's age. stride: distance between times in the array, in numbers.
 */
size_t moments_least_informative(const uint64_t *ns, size_t stride, size_t cnt);

/* Adds a moment after all others. Drops an older one if there are too many. */
void moments_add(struct moments *moments, uint64_t ns);

/* Returns the number of moments before a time. */
size_t moments_before(const struct moments *moments, uint64_t ns);

#endif
