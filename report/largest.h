/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which site holds the largest block of each process. */
#ifndef REPORT_LARGEST_H
#define REPORT_LARGEST_H

#include "report/snapshot.h"

struct largest_sites {
	const struct site **sites; /* those of the largest blocks first */
	size_t cnt;
	size_t total; /* without a bound */
};

/*
 * At most max. Left out is what is address space rather than memory that was asked for: reserves
 * and the stacks of threads.
 */
int largest_sites_init(const struct snapshot *snap, size_t max, struct largest_sites *ret);
void largest_sites_deinit(struct largest_sites *largest);

#endif
