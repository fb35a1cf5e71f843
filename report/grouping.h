/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums up the sites of a snapshot as --by requests: by process, by the module that allocated, by
 * thread or by cgroup. Does not deal with growth, formats, or the order of groups.
 */
#ifndef REPORT_GROUPING_H
#define REPORT_GROUPING_H

#include "options/options.h"
#include "report/symbol_backend.h"

struct grouping {
	enum group_by by;
	struct site *sums;  /* one sum for each group, with a unique id and without a stack */
	const char **names; /* paths of modules or cgroups; NULL if not known */
	size_t cnt;
	size_t *group_of; /* for each site of the snapshot, index of its group in `sums` */
};

/*
 * Groups the sites of a snapshot. `symbols` finds the file of a frame. The grouping points into
 * snap and symbols. For BY_THREAD, the sites must have been split by thread. Returns 0 or -ENOMEM.
 */
int grouping_init(enum group_by by, const struct snapshot *snap, struct symbol_backend *symbols,
		  struct grouping *ret);
void grouping_deinit(struct grouping *grouping);

#endif
