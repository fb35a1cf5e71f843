/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What memleak and its helpers have used, as far as metrics tell it. */
#ifndef METRICS_OWN_COST_H
#define METRICS_OWN_COST_H

#include <stdint.h>

struct own_cost {
	double cpu_seconds;      /* of all threads, and of the helpers that have ended */
	uint64_t resident_bytes; /* what they share counts for each */
	uint64_t reports;
};

/* But for the reports, which the caller counts. What cannot be read is 0. */
void own_cost_read(struct own_cost *cost);

#endif
