/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For each call that stacks go through, the sum of all sites behind it. A leak that is
 * spread over more stacks than can be judged one by one shows in the sum of its function's call.
 * Knows no names.
 */
#ifndef REPORT_CALLERS_H
#define REPORT_CALLERS_H

#include "report/ranking.h"

/* Innermost calls of a stack that count; a call that comes again in it counts once. */
#define CALLER_CALLS 16

/* The sum of a call. */
struct caller {
	const struct site *site; /* the first one behind the call */
	uint64_t frame;          /* the call */
	uint32_t site_cnt;
	uint32_t end; /* behind its last one in site_of */
};

struct callers {
	const struct snapshot *snap;
	struct caller *items;
	struct growth *growth;
	size_t cnt, cap;
	uint32_t *site_of; /* sites of snap, by sum */
	uint32_t *calls;   /* of each site of snap CALLER_CALLS indices of sums, counted from 1 */
};

/* Sums up sites of user space but those in is_left_out, which may be NULL. -ENOMEM. */
int callers_init(const struct snapshot *snap, const bool *is_left_out, struct callers *ret);
void callers_deinit(struct callers *callers);

/* Remembers them, each snapshot once, and fills growth. */
int callers_rank(struct callers *callers, struct ranking *ranking);

/* A site's calls, innermost first, 0 behind the last; NULL: the site is not of the snapshot. */
const uint32_t *callers_calls(const struct callers *callers, const struct site *site);

/* The sum of a site's frame; SIZE_MAX: there is none. callers may be NULL. */
size_t callers_find(const struct callers *callers, const struct site *site, size_t frame);

/* True if the sum seems to leak. */
bool callers_grow(const struct callers *callers, size_t sum);

/* Returns what a site, or a sum, gained of the blocks by which the sum is judged, in the later part
 * of tracing. */
double callers_gain(const struct callers *callers, size_t sum, const struct site_history *history);

#endif
