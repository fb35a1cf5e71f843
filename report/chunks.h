/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks: the large blocks that the function of a chunk pool allocates, and hands out in smaller
 * pieces.
 */
#ifndef REPORT_CHUNKS_H
#define REPORT_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

struct chunks {
	uint64_t bytes; /* size of a chunk in bytes; 0 if no chunk pool took the site's memory */
	size_t callers; /* number of callers of the pool's function */
};

#endif
