/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacks debug sections that elfutils cannot: older versions know zlib alone, not zstd. Knows
 * nothing of what is in the sections.
 */
#ifndef SYMBOLIZER_SERVER_UNPACK_H
#define SYMBOLIZER_SERVER_UNPACK_H

#include <stdint.h>

/* Maximum size of an unpacked copy, and of all copies of this process together */
#define UNPACKED_BYTES_MAX (1UL << 30)

/*
 * Makes a copy of an ELF file in memory, without its code, in which sections that are compressed
 * with zstd are not. 0; -ENOENT: elfutils can read the file itself; -EOPNOTSUPP: a section is
 * compressed in an unknown way; -EFBIG: a copy would be too large; -EBADMSG: what is compressed is
 * damaged; another errno: the copy could not be made. *ret: to be closed; the copy's size is added
 * to *bytes.
 */
int unpack_file(int fd, uint64_t *bytes, int *ret);
/* Gives back the share of closed copies, `bytes` in all, of what copies may take. */
void unpack_closed(uint64_t bytes);

#endif
