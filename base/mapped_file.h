/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether an open file is the one in a mapping. For an ended process, which has no /proc
 * directory any more, opens mapped files by path in memleak's own root.
 */
#ifndef BASE_MAPPED_FILE_H
#define BASE_MAPPED_FILE_H

#include <sys/stat.h>

#include "base/file_id.h"
#include "base/proc_maps.h"

/*
 * Returns the inode and device numbers that /proc/PID/maps would show for an open file. On
 * overlayfs and btrfs these differ from those of stat(). Does not read the file. Returns 0, or a
 * negative errno with *ret unchanged.
 */
int mapped_file_id(int fd, struct file_id *ret);

/*
 * True if an open file is the one that /proc/PID/maps shows with the inode and device numbers
 * `shown`. st: the open file's stat data. If st has the inode number of `shown`, device numbers are
 * not compared: the caller must have opened fd in a way that leads to the right device.
 */
bool mapped_file_is(int fd, const struct stat *st, const struct file_id *shown);

/*
 * True if the file's ctime is later than since_ns, the time of the mmap() (see struct mapping).
 * False if since_ns is 0 (unknown).
 */
bool file_is_changed_since(const struct stat *st, int64_t since_ns);

/*
 * Opens the file at the mapping's path, if the file there is still the mapped one. Also checks that
 * the file has not changed since the mmap() (if its time is known), because the inode number may
 * have been reused. Returns an fd and stores the file's stat data in *ret, or returns a negative
 * errno: -ENOENT if the mapped file is no longer there or cannot be identified.
 */
int mapped_file_open(const struct mapping *mapping, struct stat *ret);

#endif
