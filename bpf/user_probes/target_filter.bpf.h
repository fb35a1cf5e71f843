/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target filter selects the processes to trace by name or cgroup, or selects all processes. */
#ifndef BPF_USER_PROBES_TARGET_FILTER_BPF_H
#define BPF_USER_PROBES_TARGET_FILTER_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/memleak.h"

const volatile struct memleak_target_filter target_filter;
struct memleak_cgroup target_filter_cgroup;

/* Maximum number of cgroup ancestors that are searched. */
#define CGROUP_DEPTH_MAX 64

static __always_inline struct cgroup *task__cgroup(struct task_struct *task, __u32 subsys)
{
	struct cgroup_subsys_state **states, *state = NULL;
	struct css_set *set = BPF_CORE_READ(task, cgroups);

	if (subsys == MEMLEAK_CGROUP_UNIFIED)
		return BPF_CORE_READ(set, dfl_cgrp);
	states = (void *)set + bpf_core_field_offset(struct css_set, subsys);
	bpf_probe_read_kernel(&state, sizeof(state), &states[subsys]);
	return BPF_CORE_READ(state, cgroup);
}

static __always_inline bool task__is_in_cgroup(struct task_struct *task)
{
	struct cgroup *cgroup = task__cgroup(task, target_filter.cgroup_subsys);

	for (int i = 0; i < CGROUP_DEPTH_MAX && cgroup; i++) {
		if (BPF_CORE_READ(cgroup, kn, id) == target_filter_cgroup.id)
			return true;
		cgroup = BPF_CORE_READ(cgroup, self.parent, cgroup);
	}
	return false;
}

/*
 * True if the cgroup is in the filter's hierarchy: that of cgroup version 2, or the one that has
 * the filter's controller.
 */
static __always_inline bool cgroup__is_of_hierarchy(struct cgroup *cgroup)
{
	struct cgroup_subsys_state **states, *state = NULL;

	if (target_filter.cgroup_subsys == MEMLEAK_CGROUP_UNIFIED)
		return BPF_CORE_READ(cgroup, root, hierarchy_id) == 0;
	states = (void *)cgroup + bpf_core_field_offset(struct cgroup, subsys);
	bpf_probe_read_kernel(&state, sizeof(state), &states[target_filter.cgroup_subsys]);
	return state != NULL;
}

static __always_inline bool cgroup__is_named(struct cgroup *cgroup)
{
	char name[MEMLEAK_CGROUP_NAME_SIZE];

	if (bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(cgroup, kn, name)) <= 0)
		return false;
	for (int i = 0; i < MEMLEAK_CGROUP_NAME_SIZE; i++) {
		if (name[i] != target_filter_cgroup.name[i])
			return false;
		if (!name[i])
			return true;
	}
	return false;
}

/*
 * If a new cgroup has the name and the parent of the filter's cgroup, makes it the filter's cgroup:
 * the old one must have been removed, since names are unique.
 */
static __always_inline int target_filter__on_mkdir(struct bpf_raw_tracepoint_args *ctx)
{
	struct cgroup *cgroup = (void *)ctx->args[0];

	if (BPF_CORE_READ(cgroup, self.parent, cgroup, kn, id) == target_filter_cgroup.parent &&
	    cgroup__is_of_hierarchy(cgroup) && cgroup__is_named(cgroup))
		target_filter_cgroup.id = BPF_CORE_READ(cgroup, kn, id);
	return 0;
}

/*
 * Compares the task's name with the filter's, up to the NUL; the bytes after the NUL are undefined.
 */
static __always_inline bool task__has_comm(struct task_struct *task)
{
	__u64 comm[2] = {0};

	BPF_CORE_READ_STR_INTO(&comm, task, comm);
	return comm[0] == target_filter.comm[0] && comm[1] == target_filter.comm[1];
}

static __always_inline bool target_filter__fits(struct task_struct *task)
{
	return (!target_filter.by_comm || task__has_comm(task)) &&
	       (!target_filter.by_cgroup || task__is_in_cgroup(task));
}

#endif
