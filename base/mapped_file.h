/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matches open files with mappings. Files mapped by an ended process, which has no /proc directory
 * any more, are opened by path in memleak's own root.
 */
#ifndef BASE_MAPPED_FILE_H
#define BASE_MAPPED_FILE_H

#include <sys/stat.h>

#include "base/file_id.h"
#include "base/proc_maps.h"

/*
 * Returns the numbers that maps show for an open file: on overlayfs and btrfs they differ from
 * those of stat(). Does not read the file. Returns 0, or a negative errno with *ret unchanged.
 */
int mapped_file_id(int fd, struct file_id *ret);

/*
 * True if an open file, with stat data st, is the file that maps show. Assumes that fd was opened
 * in a way that leads to the right device: equal inode numbers are enough.
 */
bool mapped_file_is(int fd, const struct stat *st, const struct file_id *shown);

/*
 * Opens the mapping's path if it is still the mapped file, unchanged since since_ns (if known),
 * since its inode number may have been reused. Returns an fd, with *ret filled, or a negative
 * errno; -ENOENT if the file is gone or cannot be identified.
 */
int mapped_file_open(const struct mapping *mapping, struct stat *ret);

#endif
