/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the site that holds the largest block of each process. */
#ifndef REPORT_LARGEST_H
#define REPORT_LARGEST_H

#include "report/snapshot.h"

struct largest_sites {
	const struct site **sites; /* sites sorted by largest block, largest first */
	size_t cnt;
	size_t total; /* number of processes with a largest block, before the cut to max */
};

/*
 * Finds at most max sites. Ignores reserved address space and the stacks of threads, which are not
 * memory that was asked for. Returns 0 or -ENOMEM.
 */
int largest_sites_init(const struct snapshot *snap, size_t max, struct largest_sites *ret);
void largest_sites_deinit(struct largest_sites *largest);

#endif
