/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens files that the user named to write to, with rights that others of the machine lack. */
#ifndef BASE_OUTPUT_FILE_H
#define BASE_OUTPUT_FILE_H

/*
 * Opens path to append to. A file that it makes is for its owner alone: who runs memleak, or who
 * asked sudo to. As root: -EACCES if the file, or a link that leads to it, belongs to anybody else,
 * who could have put it there to have root write to it. An fd, or another negative errno.
 */
int output_file_open(const char *path);

/* What to say of an error of output_file_open(). */
const char *output_file_error(int err);

#endif
