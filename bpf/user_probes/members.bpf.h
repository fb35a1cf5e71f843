/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes are traced without having been given: by name, by cgroup, or all. */
#ifndef MEMBERS_BPF_H
#define MEMBERS_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/memleak.h"

const volatile struct memleak_members members;
struct memleak_cgroup members_cgroup;

/* How deep cgroups are looked for; the kernel allows what anybody's file names allow. */
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
	struct cgroup *cgroup = task__cgroup(task, members.cgroup_subsys);

	for (int i = 0; i < CGROUP_DEPTH_MAX && cgroup; i++) {
		if (BPF_CORE_READ(cgroup, kn, id) == members_cgroup.id)
			return true;
		cgroup = BPF_CORE_READ(cgroup, self.parent, cgroup);
	}
	return false;
}

/* A controller is in one hierarchy. */
static __always_inline bool cgroup__is_of_hierarchy(struct cgroup *cgroup)
{
	struct cgroup_subsys_state **states, *state = NULL;

	if (members.cgroup_subsys == MEMLEAK_CGROUP_UNIFIED)
		return BPF_CORE_READ(cgroup, root, hierarchy_id) == 0;
	states = (void *)cgroup + bpf_core_field_offset(struct cgroup, subsys);
	bpf_probe_read_kernel(&state, sizeof(state), &states[members.cgroup_subsys]);
	return state != NULL;
}

static __always_inline bool cgroup__is_named(struct cgroup *cgroup)
{
	char name[MEMLEAK_CGROUP_NAME_SIZE];

	if (bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(cgroup, kn, name)) <= 0)
		return false;
	for (int i = 0; i < MEMLEAK_CGROUP_NAME_SIZE; i++) {
		if (name[i] != members_cgroup.name[i])
			return false;
		if (!name[i])
			return true;
	}
	return false;
}

/* There are no two of a name: the one before is gone. */
SEC("raw_tp/cgroup_mkdir")
int cgroup_made(struct bpf_raw_tracepoint_args *ctx)
{
	struct cgroup *cgroup = (void *)ctx->args[0];

	if (BPF_CORE_READ(cgroup, self.parent, cgroup, kn, id) == members_cgroup.parent &&
	    cgroup__is_of_hierarchy(cgroup) && cgroup__is_named(cgroup))
		members_cgroup.id = BPF_CORE_READ(cgroup, kn, id);
	return 0;
}

/* What is behind the end of a name is anything. */
static __always_inline bool task__has_comm(struct task_struct *task)
{
	__u64 comm[2] = {0};

	BPF_CORE_READ_STR_INTO(&comm, task, comm);
	return comm[0] == members.comm[0] && comm[1] == members.comm[1];
}

static __always_inline bool members__fit(struct task_struct *task)
{
	return (!members.by_comm || task__has_comm(task)) &&
	       (!members.by_cgroup || task__is_in_cgroup(task));
}

#endif
