/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows a traced cgroup that is removed and created again. */
#ifndef LOADER_USER_CGROUP_WATCH_H
#define LOADER_USER_CGROUP_WATCH_H

#include "loader/user/process_set.h"

struct cgroup_watch {
	struct process_set *set;
	int fd; /* timer for checking the cgroup; -1 if no cgroup is traced */
	bool gone;
};

/*
 * Starts the timer if the filter names a cgroup. Returns 0 or a negative errno; call
 * cgroup_watch_deinit() either way.
 */
int cgroup_watch_init(struct cgroup_watch *watch, struct process_set *set);
void cgroup_watch_deinit(struct cgroup_watch *watch);
/* If the timer has fired, checks whether the cgroup was removed or created again. */
void cgroup_watch_check(struct cgroup_watch *watch);

#endif
