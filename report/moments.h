/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the times (moments) of earlier snapshots. If there are too many, thins them out: the kept
 * times cover the whole past, most densely the recent past. Knows only times.
 */
#ifndef REPORT_MOMENTS_H
#define REPORT_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

/* Maximum number of times, including the time of the latest snapshot. */
#define MOMENTS_MAX 32
/* Number of latest times that are always kept. */
#define RECENT_MOMENTS 8

/* Times of snapshots before the latest one, oldest first. */
struct moments {
	uint64_t ns[MOMENTS_MAX];
	size_t cnt; /* less than MOMENTS_MAX */
};

/*
 * Returns the index of the time to drop: the time whose two neighbours are closest together,
 * relative to its distance from the latest time.
 */
size_t moments_least_informative(const uint64_t *ns, size_t cnt);

/* Adds the latest time. Drops an older time if there are too many. */
void moments_add(struct moments *moments, uint64_t ns);

/* Returns how many of the kept times are before `ns`. */
size_t moments_before(const struct moments *moments, uint64_t ns);

#endif
