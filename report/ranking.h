/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What earlier snapshots had, by site id, and what that says of each site now: its growth since
 * the last snapshot, a few moments of its past, and its trend. No I/O, no names.
 */
#ifndef REPORT_RANKING_H
#define REPORT_RANKING_H

#include "report/snapshot.h"
#include "report/trend.h"

struct ranking;

/* Against the previous snapshot; of sites that were not there it is all they have. */
struct growth {
	int64_t bytes;
	int64_t count;
	const struct site_history *history; /* up to this snapshot; valid until the next update */
};

int ranking__new(struct ranking **ret);
void ranking__free(struct ranking *ranking);

/*
 * Fills growth[i] for snap->sites[i] and remembers this snapshot; called once per snapshot. growth
 * NULL: it is remembered alone.
 */
int ranking__update(struct ranking *ranking, const struct snapshot *snap, struct growth *growth);

#endif
