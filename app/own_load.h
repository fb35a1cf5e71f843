/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures memleak's own load between two reports of the live screen. */
#ifndef APP_OWN_LOAD_H
#define APP_OWN_LOAD_H

#include "report/snapshot.h"
#include "screen/shown_report.h"

/* Values that the previous measurement has read. */
struct own_load {
	uint64_t at_ns; /* time of the measurement (CLOCK_MONOTONIC); 0 before the first */
	double cpu_seconds;
	uint64_t elapsed_ns; /* elapsed_ns of the snapshot */
	uint64_t calls;
};

/*
 * Returns memleak's load since the measurement in *before; NAN if there was none. Stores a new one
 * there.
 */
struct screen_load own_load_measure(struct own_load *before, const struct snapshot *snap);

#endif
