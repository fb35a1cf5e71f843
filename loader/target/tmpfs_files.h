/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up the files on tmpfs by owner, whether a process has them open or not. The files are those
 * that a process can see: containers have their own mounts.
 */
#ifndef LOADER_TARGET_TMPFS_FILES_H
#define LOADER_TARGET_TMPFS_FILES_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/hash_map.h"

/* A zeroed struct is valid and empty. */
struct tmpfs_files {
	struct timespec since;      /* time of the first report */
	struct hash_map bytes;      /* key: user id plus 1; value: number of bytes, as a pointer */
	struct hash_map namespaces; /* mount namespaces that were walked for this report */
	struct hash_map devices;    /* file systems that were walked; keys: device numbers plus 1 */
	struct hash_map own;        /* files that memleak has open; they do not count */
	unsigned int entries;       /* number of entries read for this report */
};

/* Forgets the files of the previous report. */
void tmpfs_files_begin_report(struct tmpfs_files *files);
void tmpfs_files_deinit(struct tmpfs_files *files);

/*
 * Returns the bytes of the files that belong to the effective user of a process and were created or
 * changed since the first report, and of System V segments that ended processes have left. Older
 * files do not count: if one of them is removed, the sum must not fall, because this would hide the
 * growth of other files. Walks the mounts that the process sees, unless this was done for this
 * report. Skips entries after the first 16384 of a mount or 65536 in all, files that memleak has
 * open, and mounts below a file system that may be served by another process or machine.
 */
uint64_t tmpfs_files_of(struct tmpfs_files *files, pid_t pid);

#endif
