/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacks compressed debug sections that elfutils cannot unpack: older versions of elfutils support
 * zlib, but not zstd. Does not parse the contents of sections.
 */
#ifndef SYMBOLIZER_SERVER_UNPACK_H
#define SYMBOLIZER_SERVER_UNPACK_H

#include <stdint.h>

/*
 * Makes a memory file of the given size. Returns its descriptor; -EFBIG if that is too much memory;
 * or another negative errno.
 */
typedef int unpack_make_fn(void *arg, uint64_t bytes);

/*
 * Sets the function that makes files for copies, and its argument. If it is not called, copies are
 * memfds of this process.
 */
void unpack_init(unpack_make_fn *make, void *arg);

/*
 * Copies an ELF file to a memory file. The copy lacks the code, and its zstd-compressed sections
 * are unpacked. Stores the copy's descriptor, which the caller closes, in *ret. Returns 0, -ENOENT
 * if elfutils can read the file as it is, -EOPNOTSUPP if the compression is unknown, -EFBIG if the
 * copy would be too large, -EBADMSG if compressed data is damaged, or another negative errno if
 * copying failed.
 */
int unpack_file(int fd, int *ret);

#endif
