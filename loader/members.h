/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that are traced without having been given by their number: all, those of a name,
 * those of a cgroup. The programs find those that come (bpf/user_probes/members.bpf.h), this those
 * that are there.
 */
#ifndef MEMBERS_H
#define MEMBERS_H

#include "bpf/memleak.h"
#include "loader/cgroups.h"
#include "loader/options.h"

struct members {
	struct memleak_members rule; /* for the programs */
	const char *comm;            /* NULL: any */
	const char *cgroup_name;     /* as it was given; NULL: any */
	struct cgroup_place cgroup;  /* where it was last */
};

/* Finds the cgroup, if one is wanted. Returns 0 or a negative errno; has said what failed. */
int members_init(struct members *members, const struct options *opts);
void members_deinit(struct members *members);

/*
 * Looks whether the cgroup has been made anew since, there or elsewhere. Returns 1 if it has, 0 if
 * not, -ENOENT if it is gone.
 */
int members_renew_cgroup(struct members *members);
/* For the programs. */
void members_tell_cgroup(const struct members *members, struct memleak_cgroup *ret);

struct member {
	pid_t pid;
	bool own; /* memleak itself, or a process that it has made */
};

/*
 * The processes that fit now, which may be gone when they are looked at. To be freed. Returns 0 or
 * a negative errno.
 */
int members_find(const struct members *members, struct member **ret, size_t *cnt);

/* The kernel's number of a controller, which depends on how it was built. */
int members_find_subsys(const char *controller, uint32_t *ret);

#endif
