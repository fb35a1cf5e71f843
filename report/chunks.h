/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks by which a chunk pool takes memory. */
#ifndef REPORT_CHUNKS_H
#define REPORT_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

struct chunks {
	uint64_t bytes; /* of each; 0: there is no pool */
	size_t callers; /* of the function that hands the memory out */
};

#endif
