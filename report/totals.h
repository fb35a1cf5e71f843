/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Outstanding bytes at the latest reports, with their peak and their growth. */
#ifndef REPORT_TOTALS_H
#define REPORT_TOTALS_H

#include <stddef.h>
#include <stdint.h>

/* Maximum number of reports whose totals are remembered, including the current one */
#define TOTALS_MOST 24

struct totals {
	uint64_t bytes[TOTALS_MOST]; /* outstanding bytes, oldest first */
	uint64_t at_ns[TOTALS_MOST]; /* time of each report since tracing began */
	size_t cnt;
	uint64_t baseline_ns; /* time of the baseline since tracing began */
	uint64_t peak_bytes;  /* largest total since the baseline */
};

void totals_add(struct totals *totals, uint64_t bytes, uint64_t at_ns);

/* Leaves earlier totals out of the peak and the growth. */
void totals_set_baseline(struct totals *totals, uint64_t baseline_ns);

/*
 * Returns the growth in bytes per second from the first remembered report since the baseline to the
 * latest report; NAN if there is only one.
 */
double totals_per_s(const struct totals *totals);

#endif
