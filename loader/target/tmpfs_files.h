/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up the files on tmpfs by owner, whether a process has them open or not. Knows nothing of
 * traced processes.
 */
#ifndef LOADER_TARGET_TMPFS_FILES_H
#define LOADER_TARGET_TMPFS_FILES_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/hash_map.h"

/* A zeroed struct is valid and empty. */
struct tmpfs_files {
	struct timespec since; /* time of the first call of tmpfs_files_read() */
	struct hash_map bytes; /* key: user id plus 1; value: number of bytes, as a pointer */
};

/*
 * Reads the mounts that memleak sees, and adds up the files that were created or changed since the
 * first call. Older files do not count: if one of them is removed, the sum must not fall, because
 * this would hide the growth of other files. Skips files after the first 16384 of a mount, and
 * mounts below another file system than the root and a few types that are always local.
 */
void tmpfs_files_read(struct tmpfs_files *files);
void tmpfs_files_deinit(struct tmpfs_files *files);

/* Returns the bytes of the files that belong to the effective user of a process. */
uint64_t tmpfs_files_of(const struct tmpfs_files *files, pid_t pid);

#endif
