/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a scene's sites were before: its ranking after all reports up to the present one. */
#ifndef TESTS_UNIT_LIB_PAST_H
#define TESTS_UNIT_LIB_PAST_H

#include "report/ranking.h"

/* Growth points into the ranking. */
struct past {
	struct ranking *ranking;
	struct growth *growth;
};

/*
 * Up to a snapshot, before which there was another, if any; growing: it has become what it is in
 * so many reports, each of which had as much more as the others.
 */
struct past past_of(const struct snapshot *before, const struct snapshot *snap,
		    unsigned int growing);
void past_deinit(struct past *past);

#endif
