/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums up, for each call, all sites that have the call on their stacks. If a leak has too many
 * stacks to judge each of them alone, the sum over a call that they share shows the leak. Calls are
 * compared by their addresses, so names are not needed.
 */
#ifndef REPORT_CALLERS_H
#define REPORT_CALLERS_H

#include "report/ranking.h"

/*
 * Maximum number of calls of a stack that get a sum, counted from the innermost call. A call that
 * is repeated on the stack counts once.
 */
#define CALLER_CALLS 16

/* The sum over all sites that have a certain call on their stacks. */
struct caller {
	const struct site *site; /* first site whose stack has the call */
	uint64_t frame;          /* return address of the call, as in site.frames */
	uint32_t site_cnt;
	uint32_t end; /* index in site_of after the last site of this call */
};

struct callers {
	const struct snapshot *snap;
	struct caller *items;
	struct growth *growth;
	size_t cnt, cap;
	uint32_t *site_of; /* indices of sites of snap: the sites of each call are adjacent */
	/*
	 * CALLER_CALLS entries for each site of snap: the calls on its stack, innermost first. An
	 * entry is an index in items plus 1; unused entries are 0.
	 */
	uint32_t *calls;
};

/*
 * Sums up the user-space sites, except those whose flag in is_left_out is set. is_left_out may be
 * NULL. Returns 0 or -ENOMEM.
 */
int callers_init(const struct snapshot *snap, const bool *is_left_out, struct callers *ret);
void callers_deinit(struct callers *callers);

/* Adds the sums to `ranking`, and sets their growth. Must be called once per snapshot. */
int callers_rank(struct callers *callers, struct ranking *ranking);

/*
 * Returns the CALLER_CALLS entries of `calls` for a site; NULL if the site is not in the snapshot.
 */
const uint32_t *callers_calls(const struct callers *callers, const struct site *site);

/*
 * Returns the index in callers->items of the sum for the call whose return address is
 * site->frames[frame]. Returns SIZE_MAX if this call has no sum, or if `callers` is NULL.
 */
size_t callers_find(const struct callers *callers, const struct site *site, size_t frame);

/* True if a sum seems to leak. */
bool callers_grow(const struct callers *callers, size_t sum);

/*
 * Returns the bytes that a site or sum with the given history gained in the later part of tracing.
 * If only blocks older than a certain age were judged for the sum with index `sum`, counts only
 * those blocks.
 */
double callers_gain(const struct callers *callers, size_t sum, const struct site_history *history);

#endif
