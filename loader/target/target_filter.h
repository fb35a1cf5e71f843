/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that are traced without having been given by their number: all, those of a name,
 * those of a cgroup. BPF programs (bpf/user_probes/target_filter.bpf.h) find processes that start
 * later, this file finds those that are running.
 */
#ifndef LOADER_TARGET_TARGET_FILTER_H
#define LOADER_TARGET_TARGET_FILTER_H

#include "bpf/memleak.h"
#include "loader/target/cgroups.h"
#include "loader/target/process_tree.h"
#include "options/options.h"

struct target_filter {
	struct memleak_target_filter rule; /* for the programs */
	const char *comm;                  /* NULL: any */
	const char *cgroup_name;           /* as it was given; NULL: any */
	struct cgroup_place cgroup;        /* where it was last */
};

/* Finds the cgroup, if one is wanted. Returns 0 or a negative errno; what failed was logged. */
int target_filter_init(struct target_filter *target_filter, const struct options *opts);
void target_filter_deinit(struct target_filter *target_filter);

/*
 * Looks whether the cgroup has been made anew since, there or elsewhere. Returns 1 if it has, 0 if
 * not, -ENOENT if it is gone.
 */
int target_filter_renew_cgroup(struct target_filter *target_filter);
/* What the BPF programs are to know of the cgroup. */
void target_filter_tell_cgroup(const struct target_filter *target_filter,
			       struct memleak_cgroup *ret);

/*
 * The processes that fit now, which may be gone when they are looked at; *ret is to be freed. 0 or
 * a negative errno.
 */
int target_filter_find(const struct target_filter *target_filter, struct member **ret, size_t *cnt);

/* Lists the running descendants of the given processes; *ret is to be freed. 0 or -errno. */
int target_filter_find_descendants(const pid_t *pids, size_t pid_cnt, struct member **ret,
				   size_t *cnt);

/* The kernel's number of a controller, which depends on how it was built. */
int target_filter_find_subsys(const char *controller, uint32_t *ret);

#endif
