/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time and memory used by memleak and its helpers. */
#ifndef METRICS_OWN_COST_H
#define METRICS_OWN_COST_H

#include <stdint.h>

struct own_cost {
	double cpu_seconds; /* CPU time of all threads and helpers, even of ended helpers */
	/* sum over memleak and its helpers; memory that they share is counted for each of them */
	uint64_t resident_bytes;
	uint64_t reports;
};

/* Reads all fields except reports, which the caller counts. Values that cannot be read are 0. */
void own_cost_read(struct own_cost *cost);

#endif
