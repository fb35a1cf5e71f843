/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacks compressed debug sections that elfutils cannot unpack: older versions of elfutils support
 * zlib, but not zstd. Does not parse the contents of sections.
 */
#ifndef SYMBOLIZER_SERVER_UNPACK_H
#define SYMBOLIZER_SERVER_UNPACK_H

#include <stdint.h>

/* Maximum size, in bytes, of one copy, and maximum total size of all copies that are open. */
#define UNPACKED_BYTES_MAX (1UL << 30)

/*
 * Copies an ELF file to a memfd. The copy lacks the code, and its zstd-compressed sections are
 * unpacked. Stores the memfd, which the caller closes, in *ret, and adds the copy's size to *bytes.
 * Returns 0, -ENOENT if elfutils can read the file as it is, -EOPNOTSUPP if the compression is
 * unknown, -EFBIG if the copy would be too large, -EBADMSG if compressed data is damaged, or
 * another negative errno if copying failed.
 */
int unpack_file(int fd, uint64_t *bytes, int *ret);
/*
 * Call this after closing copies that unpack_file() made. bytes: their total size, as added by
 * unpack_file().
 */
void unpack_closed(uint64_t bytes);

#endif
