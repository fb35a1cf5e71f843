/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the points of histories. Sites that are in the same state at the same time share a point:
 * a program may have very many sites that hold one block each. Knows nothing of sites.
 */
#ifndef REPORT_SHARED_POINTS_H
#define REPORT_SHARED_POINTS_H

#include "base/hash_map.h"
#include "report/trend.h"

struct shared_points {
	struct hash_map by_hash; /* the points that can be shared, by the hash of their content */
};

/*
 * Returns a stored point with the content of `point`, and counts one more user of it. Returns NULL
 * if out of memory. The point stays valid until history_point_drop().
 */
const struct history_point *shared_points_get(struct shared_points *points,
					      const struct history_point *point);

/*
 * Ends the sharing of the points so far; they stay valid. Must be called before a point that can be
 * shared is dropped by its last user.
 */
void shared_points_end(struct shared_points *points);

/* Frees a stored point unless it has other users. */
void history_point_drop(const struct history_point *point);

#endif
