/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a frame of a snapshot's stack is, besides an address. Its other bits are the source's, which
 * names it. Recordings hold frames as they are.
 */
#ifndef REPORT_FRAME_H
#define REPORT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* Of user space: the instruction to be executed next, and not the one behind a call. */
#define FRAME_EXACT (1ULL << 62)
/* A place in a file: it has an address only once it is named. */
#define FRAME_FILE (1ULL << 61)
/* From here on up to the kernel's half no bit is part of an address. */
#define FRAME_ADDR_END (1ULL << 59)

static inline bool frame_is_kernel(uint64_t frame)
{
	return frame >> 63;
}

static inline bool frame_is_exact(uint64_t frame)
{
	return !frame_is_kernel(frame) && (frame & FRAME_EXACT);
}

static inline bool frame_is_in_file(uint64_t frame)
{
	return !frame_is_kernel(frame) && (frame & FRAME_FILE);
}

/* Of a frame that is not in a file. */
static inline uint64_t frame_addr(uint64_t frame)
{
	return frame_is_kernel(frame) ? frame : frame & (FRAME_ADDR_END - 1);
}

#endif
