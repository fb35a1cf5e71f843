/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums up the sites of a snapshot by what --by names: their processes, the files that hold the
 * code which allocated, threads or cgroups. It knows nothing of order, growth or formats.
 */
#ifndef REPORT_GROUPING_H
#define REPORT_GROUPING_H

#include "options/options.h"
#include "report/symbol_backend.h"

struct grouping {
	enum group_by by;
	struct site *sums;  /* one for each group, without a stack; no two with one id */
	const char **names; /* by module or cgroup: which it is; NULL: not known */
	size_t cnt;
	size_t *group_of; /* for each site of the snapshot: index into sums */
};

/*
 * symbols: tells what file a frame is in. The grouping points to what the snapshot and symbols
 * own. Sites of a snapshot that is grouped by thread have been split.
 */
int grouping_init(enum group_by by, const struct snapshot *snap, struct symbol_backend *symbols,
		  struct grouping *ret);
void grouping_deinit(struct grouping *grouping);

#endif
