/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the earlier reports of a scene, and a ranking that has seen them. */
#ifndef TESTS_UNIT_LIB_PAST_H
#define TESTS_UNIT_LIB_PAST_H

#include "report/ranking.h"

/* The ranking of a scene, and the growth of its sites, which past_deinit() frees. */
struct past {
	struct ranking *ranking;
	struct growth *growth;
};

/*
 * Returns a ranking that has seen the reports up to `snap`. before: previous snapshot, or NULL.
 * growing: if not 0, number of reports over which memory grows evenly up to `snap`.
 */
struct past past_of(const struct snapshot *before, const struct snapshot *snap,
		    unsigned int growing);
void past_deinit(struct past *past);

#endif
