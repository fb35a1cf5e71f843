/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures memleak's own load between the reports of the live screen. */
#ifndef APP_OWN_LOAD_H
#define APP_OWN_LOAD_H

#include "report/snapshot.h"
#include "screen/shown_report.h"

/* Sums at the previous measurement. */
struct own_load {
	uint64_t at_ns; /* time of the measurement (CLOCK_MONOTONIC); 0 before the first one */
	double cpu_seconds;
	uint64_t elapsed_ns; /* of the snapshot */
	uint64_t calls;
};

/* Returns the load since the previous call; NAN if this is the first call. */
struct screen_load own_load_measure(struct own_load *before, const struct snapshot *snap);

#endif
