/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds, for each process, the site that has the process's largest block. */
#ifndef REPORT_LARGEST_H
#define REPORT_LARGEST_H

#include "report/snapshot.h"

struct largest_sites {
	/* Sites, sorted by the size of their largest block, in descending order. */
	const struct site **sites;
	size_t cnt;
	/* Number of processes that have blocks, including processes that are not listed. */
	size_t total;
};

/*
 * Lists, for each process, the site that has its largest block; at most `max` sites. Ignores
 * reserved address space and the stacks of threads, which are not memory that a program asked for.
 * Returns 0 or -ENOMEM.
 */
int largest_sites_init(const struct snapshot *snap, size_t max, struct largest_sites *ret);
void largest_sites_deinit(struct largest_sites *largest);

#endif
