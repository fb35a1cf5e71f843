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

/*
 * The same for cnt sums over sites of the snapshot, which may overlap: growth[i] is of the sum that
 * make(arg, i, ret) makes. Sums are large, and only one is needed at a time.
 */
int ranking__update_sums(struct ranking *ranking, const struct snapshot *snap,
			 void (*make)(const void *arg, size_t i, struct site *ret), const void *arg,
			 size_t cnt, struct growth *growth);

/* Remembers a snapshot between two reports: growth stays that since the last report. */
int ranking__note(struct ranking *ranking, const struct snapshot *snap);

/* Snapshots that are remembered, and the time between the first and the last of them. */
struct ranking_past {
	uint64_t cnt;
	uint64_t ns;
};

struct ranking_past ranking__past(const struct ranking *ranking);

#endif
