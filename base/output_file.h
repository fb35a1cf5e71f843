/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens output files that the user names on the command line. memleak may have more rights than
 * other users, who must not be able to redirect its output to another file.
 */
#ifndef BASE_OUTPUT_FILE_H
#define BASE_OUTPUT_FILE_H

/*
 * Opens path for appending. Creates the file if needed; a new file is readable only by its owner,
 * which is the user who runs memleak or who called sudo. If memleak is root, returns -EACCES if the
 * file or pipe, or a symbolic link in any part of the path, belongs neither to root nor to the user
 * who called sudo: its owner may have placed it there. Returns -EACCES also if the file has several
 * names and is in a folder in which other users can make hard links. Returns -EREMOTE if the owner
 * of the pipe or link is not known for certain, because a network or FUSE server states it. Returns
 * an fd or another negative errno.
 */
int output_file_open(const char *path);

/* Returns the error message for an error of output_file_open(). */
const char *output_file_error(int err);

#endif
