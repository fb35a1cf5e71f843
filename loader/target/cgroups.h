/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control groups as directories: found by path or by name, and the processes in them. */
#ifndef LOADER_TARGET_CGROUPS_H
#define LOADER_TARGET_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_place {
	char *path;       /* of the directory */
	uint64_t id;      /* the kernel's number of it */
	char *controller; /* version 1: of its hierarchy; NULL: version 2 */
};

/*
 * name: a path of a directory, a path in a hierarchy (as /proc/PID/cgroup has it), or the last
 * part of one, as a unit of systemd's or a container's id has (12 bytes of it at least). -ENOENT:
 * there is none; -ENOTUNIQ: there are several, whose paths are in ret, to be released as well;
 * -ENOTSUP: of a hierarchy without controllers.
 */
int cgroup_find(const char *name, struct cgroup_place *ret);
void cgroup_place_deinit(struct cgroup_place *place);

/* Calls visit for each process of the cgroup and those below, until it returns not 0. */
int cgroup_visit(const char *path, int (*visit)(void *arg, pid_t pid), void *arg);

/*
 * Of the hierarchy that accounts for memory: that of the memory controller if it is one of version
 * 1, else version 2. Where it is mounted; NULL: nowhere. To be freed.
 */
char *cgroup_memory_mount(bool *unified);

/* Calls visit for each cgroup below a mount: its number and its path from there on. */
int cgroup_visit_all(const char *mount, int (*visit)(void *arg, uint64_t id, const char *path),
		     void *arg);

/*
 * The cgroup of a process in that hierarchy, from what /proc/PID/cgroup says; as seen from the
 * caller's cgroup namespace. NULL: not known. To be freed.
 */
char *cgroup_of_process(pid_t pid);

#endif
