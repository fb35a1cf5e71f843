/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects the processes to trace by a rule, not by pid. The rule selects all processes, or those
 * with a given name or in a given cgroup. This file finds processes that are running; BPF programs
 * (bpf/user_probes/target_filter.bpf.h) find processes that start later.
 */
#ifndef LOADER_TARGET_TARGET_FILTER_H
#define LOADER_TARGET_TARGET_FILTER_H

#include "bpf/memleak.h"
#include "loader/target/cgroups.h"
#include "loader/target/process_tree.h"
#include "options/options.h"

struct target_filter {
	struct memleak_target_filter rule; /* rule for the BPF programs */
	const char *comm;                  /* process name to match; NULL for any name */
	const char *cgroup_name;    /* cgroup name from the command line; NULL for any cgroup */
	struct cgroup_place cgroup; /* place where the cgroup was last found */
};

/*
 * Finds the cgroup if options name one. Returns 0, or a negative errno after logging the failure.
 */
int target_filter_init(struct target_filter *target_filter, const struct options *opts);
void target_filter_deinit(struct target_filter *target_filter);

/*
 * Checks whether the cgroup was recreated, at the same path or elsewhere. Returns 1 if it was
 * recreated, 0 if it has existed all the time, -ENOENT if it is gone.
 */
int target_filter_renew_cgroup(struct target_filter *target_filter);
/* Fills in the data of the cgroup for the BPF programs. */
void target_filter_publish_cgroup(const struct target_filter *target_filter,
				  struct memleak_cgroup *ret);

/*
 * Lists the running processes that match the filter; some of them may end soon. Also lists
 * memleak's own processes, even if their names do not match. The caller frees *ret. Returns 0 or a
 * negative errno.
 */
int target_filter_find(const struct target_filter *target_filter, struct member **ret, size_t *cnt);

/*
 * Lists the running descendants of the given processes. The caller frees *ret. Returns 0 or a
 * negative errno.
 */
int target_filter_find_descendants(const pid_t *pids, size_t pid_cnt, struct member **ret,
				   size_t *cnt);

/*
 * Finds the number of a cgroup controller, which depends on the running kernel's configuration.
 * Returns 0, -ENOENT if there is no such controller, or another negative errno.
 */
int target_filter_find_subsys(const char *controller, uint32_t *ret);

#endif
