/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remembers earlier snapshots by site id, and derives for each site its growth since the last
 * report, a few moments of its past, and its trend. No I/O, no names.
 */
#ifndef REPORT_RANKING_H
#define REPORT_RANKING_H

#include "report/snapshot.h"
#include "report/trend.h"

struct ranking;

/* Growth of a site since the last report; a new site has grown by all that it holds. */
struct growth {
	int64_t bytes;
	int64_t count;
	const struct site_history *history; /* up to this snapshot; valid until the next update */
};

int ranking__new(struct ranking **ret);
void ranking__free(struct ranking *ranking);

/*
 * Remembers a snapshot and sets growth[i] for snap->sites[i], unless growth is NULL; call once per
 * snapshot. Returns 0 or -ENOMEM.
 */
int ranking__update(struct ranking *ranking, const struct snapshot *snap, struct growth *growth);

/*
 * Like ranking__update(), but ranks cnt sums over sites of the snapshot, which may overlap:
 * growth[i] is for the sum made by make(arg, i, ret). Sums are large, so only one exists at a time.
 */
int ranking__update_sums(struct ranking *ranking, const struct snapshot *snap,
			 void (*make)(const void *arg, size_t i, struct site *ret), const void *arg,
			 size_t cnt, struct growth *growth);

/* Remembers a snapshot between two reports; growth still counts from the last report. */
int ranking__note(struct ranking *ranking, const struct snapshot *snap);

/* Number of snapshots that were remembered, and time between the first and the last. */
struct ranking_past {
	uint64_t cnt;
	uint64_t ns;
};

struct ranking_past ranking__past(const struct ranking *ranking);

#endif
