/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacks debug sections that elfutils cannot: older versions support zlib, but not zstd. Does not
 * know what the sections contain.
 */
#ifndef SYMBOLIZER_SERVER_UNPACK_H
#define SYMBOLIZER_SERVER_UNPACK_H

#include <stdint.h>

/* Maximum size, in bytes, of an unpacked copy and of all open copies together */
#define UNPACKED_BYTES_MAX (1UL << 30)

/*
 * Copies an ELF file to memory, without its code and with zstd-compressed sections unpacked.
 * Returns -ENOENT if elfutils can read the file itself, -EOPNOTSUPP if the compression is unknown,
 * -EFBIG if the copy would be too large, -EBADMSG if compressed data is damaged, or another errno
 * if copying failed. *ret is closed by the caller; the copy's size is added to *bytes.
 */
int unpack_file(int fd, uint64_t *bytes, int *ret);
/* Returns the size of closed copies, `bytes` in all, to the budget for copies. */
void unpack_closed(uint64_t bytes);

#endif
