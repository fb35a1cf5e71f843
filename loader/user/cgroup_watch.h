/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goes on with the cgroup that is made when the one that is traced is gone. */
#ifndef LOADER_USER_CGROUP_WATCH_H
#define LOADER_USER_CGROUP_WATCH_H

#include "loader/user/process_set.h"

struct cgroup_watch {
	struct process_set *set;
	int fd; /* timer: the cgroup may be another one by now; -1: none is traced */
	bool gone;
};

/* Only if the set's filter asks for a cgroup. 0 or a negative errno; to be deinited either way. */
int cgroup_watch_init(struct cgroup_watch *watch, struct process_set *set);
void cgroup_watch_deinit(struct cgroup_watch *watch);
/* Looks whether it is time, and whether it is another one. */
void cgroup_watch_check(struct cgroup_watch *watch);

#endif
