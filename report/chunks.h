/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chunks in which a chunk pool takes memory. */
#ifndef REPORT_CHUNKS_H
#define REPORT_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

struct chunks {
	uint64_t bytes; /* size of a chunk; 0 if there is no pool */
	size_t callers; /* number of callers of the pool's function */
};

#endif
