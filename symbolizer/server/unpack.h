/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacks debug sections that elfutils cannot unpack: older versions support zlib, but not zstd.
 * Does not parse the contents of sections.
 */
#ifndef SYMBOLIZER_SERVER_UNPACK_H
#define SYMBOLIZER_SERVER_UNPACK_H

#include <stdint.h>

/* Maximum size, in bytes, of one unpacked copy, and maximum total size of all open copies */
#define UNPACKED_BYTES_MAX (1UL << 30)

/*
 * Copies an ELF file to memory. The copy lacks the code, and its zstd-compressed sections are
 * unpacked. Returns -ENOENT if elfutils can read the file as it is, -EOPNOTSUPP if the compression
 * is unknown, -EFBIG if the copy would be too large, -EBADMSG if compressed data is damaged, or
 * another errno if copying failed. The caller closes *ret. Adds the copy's size to *bytes.
 */
int unpack_file(int fd, uint64_t *bytes, int *ret);
/* Subtracts `bytes`, the size of copies that were closed, from the size of all open copies. */
void unpack_closed(uint64_t bytes);

#endif
