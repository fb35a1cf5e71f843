/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the history of a scene: a ranking that was updated with each report of the scene. */
#ifndef TESTS_UNIT_LIB_PAST_H
#define TESTS_UNIT_LIB_PAST_H

#include "report/ranking.h"

/* The ranking owns the array `growth`. */
struct past {
	struct ranking *ranking;
	struct growth *growth;
};

/*
 * Makes the history that leads to the snapshot `snap`. `before` is the previous snapshot, or NULL.
 * `growing`, if not 0, is the number of reports over which memory grows evenly up to the snapshot.
 */
struct past past_of(const struct snapshot *before, const struct snapshot *snap,
		    unsigned int growing);
void past_deinit(struct past *past);

#endif
