/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flags in the frames of a snapshot's stacks. All other bits outside the address have a meaning
 * only for the source of the snapshot, which also names the frames. Recordings store frames
 * unchanged.
 */
#ifndef REPORT_FRAME_H
#define REPORT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* User space: the frame is the next instruction to execute, and not a return address. */
#define FRAME_EXACT (1ULL << 62)
/* The frame is a position in a file. Its address is known only after the frame has been named. */
#define FRAME_FILE (1ULL << 61)
/* End of the user-space addresses; higher bits of a frame do not belong to its address. */
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

/* Returns the address in a frame, which must not be a position in a file. */
static inline uint64_t frame_addr(uint64_t frame)
{
	return frame_is_kernel(frame) ? frame : frame & (FRAME_ADDR_END - 1);
}

#endif
