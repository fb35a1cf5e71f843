/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remembers, for each site id, the site's past in earlier snapshots. Computes the site's growth
 * since the last report, a few points of its past, and its trend. No I/O, no names.
 */
#ifndef REPORT_RANKING_H
#define REPORT_RANKING_H

#include "report/snapshot.h"
#include "report/trend.h"

struct ranking;

/* Growth of a site since the last report. A new site has grown by its whole size. */
struct growth {
	int64_t bytes;
	int64_t count;
	/* History of the site, including this snapshot; valid until the next update. */
	const struct site_history *history;
};

int ranking__new(struct ranking **ret);
void ranking__free(struct ranking *ranking);

/*
 * Remembers a snapshot. Unless `growth` is NULL, sets growth[i] for snap->sites[i]. Call once per
 * snapshot. Returns 0 or -ENOMEM.
 */
int ranking__update(struct ranking *ranking, const struct snapshot *snap, struct growth *growth);

/*
 * Like ranking__update(), but remembers cnt sums over sites of the snapshot instead of the single
 * sites; the sums may overlap. make(arg, i, ret) must make sum i, whose growth is stored in
 * growth[i]. Only one sum exists at a time, because sums are large.
 */
int ranking__update_sums(struct ranking *ranking, const struct snapshot *snap,
			 void (*make)(const void *arg, size_t i, struct site *ret), const void *arg,
			 size_t cnt, struct growth *growth);

/*
 * Remembers a snapshot that was taken between two reports. Growth remains relative to the last
 * report.
 */
int ranking__note(struct ranking *ranking, const struct snapshot *snap);

/*
 * Forgets the sites that were not in the latest snapshot. Meant for sites that never come back once
 * they are missing.
 */
void ranking__forget_absent(struct ranking *ranking);

/* Number of snapshots so far, and the time between the first and the last of them. */
struct ranking_past {
	uint64_t cnt;
	uint64_t ns;
};

struct ranking_past ranking__past(const struct ranking *ranking);

#endif
