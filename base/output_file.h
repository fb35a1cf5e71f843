/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the output files that the user names. memleak may have more rights than other users, who
 * must not lead it to another file.
 */
#ifndef BASE_OUTPUT_FILE_H
#define BASE_OUTPUT_FILE_H

/*
 * Opens path to append to. A file that it makes can be read by its owner alone: the user who runs
 * memleak, or who called sudo. As root: -EACCES if the file or pipe, or a link in any part of the
 * path, belongs to anybody else, who could have put it there. An fd, or another negative errno.
 */
int output_file_open(const char *path);

/* What to say of an error of output_file_open(). */
const char *output_file_error(int err);

#endif
