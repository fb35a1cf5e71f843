// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts sites by process, and then by the size of their largest blocks. */
#include "report/largest.h"

#include <errno.h>
#include <stdlib.h>

#include "base/order.h"

/*
 * Returns the pid of the process that a site belongs to; 0 if it does not belong to a single
 * process.
 */
static pid_t pid_of(const struct site *site)
{
	return site->process ? site->process->pid : 0;
}

/*
 * Compares the largest blocks of two sites; the larger block comes first. Never returns 0 for two
 * sites.
 */
static int by_size(const void *left, const void *right)
{
	const struct site *a = *(const struct site *const *)left;
	const struct site *b = *(const struct site *const *)right;

	return ORDER(b->largest.size, a->largest.size)
		       ?: ORDER(b->largest.age_ns, a->largest.age_ns)
		       ?: ORDER(a->id, b->id);
}

static int by_process(const void *left, const void *right)
{
	pid_t a = pid_of(*(const struct site *const *)left);
	pid_t b = pid_of(*(const struct site *const *)right);

	return ORDER(a, b) ?: by_size(left, right);
}

int largest_sites_init(const struct snapshot *snap, size_t max, struct largest_sites *ret)
{
	const struct site **sites = calloc(snap->site_cnt + 1, sizeof(*sites));
	size_t site_cnt = 0, cnt = 0;

	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < snap->site_cnt; i++)
		if (site_is_memory(&snap->sites[i]))
			sites[site_cnt++] = &snap->sites[i];
	qsort(sites, site_cnt, sizeof(*sites), by_process);
	for (size_t i = 0; i < site_cnt; i++)
		if (!cnt || pid_of(sites[cnt - 1]) != pid_of(sites[i]))
			sites[cnt++] = sites[i];
	qsort(sites, cnt, sizeof(*sites), by_size);
	*ret = (struct largest_sites){sites, cnt < max ? cnt : max, cnt};
	return 0;
}

void largest_sites_deinit(struct largest_sites *largest)
{
	free(largest->sites);
	*largest = (struct largest_sites){0};
}
