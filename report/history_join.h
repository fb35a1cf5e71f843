/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds up the histories of several sites of one process. */
#ifndef REPORT_HISTORY_JOIN_H
#define REPORT_HISTORY_JOIN_H

#include "report/trend.h"

struct joined_histories {
	struct site_history *items;
	size_t cnt;
};

void joined_histories_deinit(struct joined_histories *joined);

/*
 * Makes the history of the sum of cnt sites, with its trend. Blocks that belong to two
 * of the sites count twice. ret->points is to be freed. Returns 0 or -ENOMEM.
 */
int history_join(const struct site_history *const *parts, size_t cnt, struct site_history *ret);

#endif
