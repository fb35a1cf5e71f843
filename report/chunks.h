/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chunks in which the function of a chunk pool takes memory, to hand it out in smaller blocks.
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
