/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time and memory used by memleak and its helpers. */
#ifndef METRICS_OWN_COST_H
#define METRICS_OWN_COST_H

#include <stdint.h>

struct own_cost {
	/* CPU time of all threads and of all helper processes, including those that have ended */
	double cpu_seconds;
	/* sum over memleak and its helper processes; shared memory is counted for each of them */
	uint64_t resident_bytes;
	uint64_t reports;
};

/* Reads all fields but `reports`, which the caller sets. Values that cannot be read are 0. */
void own_cost_read(struct own_cost *cost);

#endif
