/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes for the functions of one file: which functions need a probe, which instructions are
 * probed, and how the results of calls are read.
 */
#ifndef LOADER_PROBES_PROBE_LIST_H
#define LOADER_PROBES_PROBE_LIST_H

#include "loader/probes/allocators.h"
#include "loader/probes/probe_set.h"
#include "prober/server/function.h"

/* A function that gets no probe, and the reason. */
struct skipped_function {
	const char *name;
	enum function_verdict verdict;
	const char *through; /* with FUNCTION_THROUGH: the probed function that it calls */
};

struct probe_list {
	struct probe *items;        /* probes on return instructions come first */
	struct probe_place *places; /* place of each probe, for messages */
	size_t cnt;
	size_t cap;
	size_t place_cap;
	struct skipped_function *skipped;
	size_t skipped_cnt;
	size_t skipped_cap;
	bool throws; /* true if a probed function may throw an exception */
};

/*
 * Builds the probes for the functions in `chosen`. The field `name` of each chosen function is an
 * index into `functions` and `wanted`. entries: build no return probes.
 *
 * Two kinds of C++ operators get no probe. The first are operators that leave all of their work to
 * a probed function. The second, unless `entries` is true, are throwing operators of which not all
 * return instructions were found.
 *
 * Deinit the list even on failure. Returns 0 or a negative errno.
 */
int probe_list_init(const struct allocator_function *functions,
		    const struct wanted_functions *wanted, const struct found_function *chosen,
		    size_t cnt, bool entries, struct probe_list *ret);
void probe_list_deinit(struct probe_list *list);

#endif
