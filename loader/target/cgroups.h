/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds control groups by path or name, and the processes in them. */
#ifndef LOADER_TARGET_CGROUPS_H
#define LOADER_TARGET_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_place {
	char *path;       /* path of the directory */
	uint64_t id;      /* the kernel's id of the cgroup */
	char *controller; /* controller of a version 1 hierarchy; NULL for version 2 */
};

/*
 * Finds a cgroup. `name` is the path of a directory, a path within a hierarchy (as in
 * /proc/PID/cgroup), or the last part of a path, such as a systemd unit or a container id of at
 * least 12 digits. Returns 0, -ENOENT if there is no such cgroup, -ENOTUNIQ if there are several
 * (ret->path then lists them, and ret must be deinitialised), -ENOTSUP if `name` is a directory of
 * a hierarchy without a controller, or another negative errno.
 */
int cgroup_find(const char *name, struct cgroup_place *ret);
void cgroup_place_deinit(struct cgroup_place *place);

/*
 * Calls visit() for each process in the cgroup and its descendants, until visit() returns non-zero.
 */
int cgroup_visit(const char *path, int (*visit)(void *arg, pid_t pid), void *arg);

/*
 * Returns the mount point of the hierarchy that accounts for memory: the memory hierarchy of
 * version 1 if it exists, else version 2. NULL if neither is mounted. The caller frees the path.
 * *unified is true for version 2.
 */
char *cgroup_memory_mount(bool *unified);

/*
 * Calls visit() for each cgroup of the hierarchy mounted at `mount`, including the root ("/"), with
 * the cgroup's id and its path relative to the mount point. Stops if visit() returns non-zero.
 */
int cgroup_visit_all(const char *mount, int (*visit)(void *arg, uint64_t id, const char *path),
		     void *arg);

/*
 * Returns the cgroup of a process in the hierarchy of cgroup_memory_mount(), as a path in the
 * caller's cgroup namespace. NULL if unknown. The caller frees the path.
 */
char *cgroup_of_process(pid_t pid);

#endif
