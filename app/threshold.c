// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares totals with the amounts of --at-bytes and --at-growth. */
#include "app/threshold.h"

#include <string.h>

#include "base/log.h"
#include "sinks/text_part.h"

#define NSEC_PER_SEC 1e9

struct threshold threshold_of(const struct options *opts)
{
	/* The first total is that of the beginning: nothing is outstanding yet. */
	return (struct threshold){
		.opts = opts,
		.waits = opts->at_bytes || opts->at_growth.bytes,
		.cnt = 1,
	};
}

static uint64_t age_ns(const struct threshold *threshold, size_t i, uint64_t now_ns)
{
	return now_ns - threshold->totals[i].at_ns;
}

/*
 * True if the total has grown by the amount of --at-growth within a period. If reports are further
 * apart than a period, the growth between them is averaged.
 */
static bool has_grown(const struct threshold *threshold, uint64_t bytes, uint64_t at_ns)
{
	const struct growth_limit *limit = &threshold->opts->at_growth;
	double periods = (double)age_ns(threshold, 0, at_ns) / (double)limit->period_ns;
	double growth = (double)bytes - (double)threshold->totals[0].bytes;

	return growth >= (double)limit->bytes * (periods > 1 ? periods : 1);
}

/* Removes totals until only the first one is at least a period old. */
static void forget(struct threshold *threshold, uint64_t at_ns)
{
	size_t old = 0;

	while (old + 1 < threshold->cnt &&
	       age_ns(threshold, old + 1, at_ns) >= threshold->opts->at_growth.period_ns)
		old++;
	threshold->cnt -= old;
	memmove(threshold->totals, threshold->totals + old,
		threshold->cnt * sizeof(*threshold->totals));
}

/* Adds a total, unless the latest one is so young that there would be too many in a period. */
static void remember(struct threshold *threshold, uint64_t bytes, uint64_t at_ns)
{
	uint64_t period_ns = threshold->opts->at_growth.period_ns;

	if (age_ns(threshold, threshold->cnt - 1, at_ns) < period_ns / (THRESHOLD_TOTALS - 2))
		return;
	threshold->totals[threshold->cnt].bytes = bytes;
	threshold->totals[threshold->cnt++].at_ns = at_ns;
}

void threshold_add(struct threshold *threshold, uint64_t bytes, uint64_t at_ns)
{
	const struct options *opts = threshold->opts;

	if (!threshold->waits)
		return;
	if (bytes > threshold->most_bytes)
		threshold->most_bytes = bytes;
	threshold->is_reached = opts->at_bytes && bytes >= opts->at_bytes;
	if (opts->at_growth.bytes) {
		forget(threshold, at_ns);
		threshold->is_reached |= has_grown(threshold, bytes, at_ns);
		remember(threshold, bytes, at_ns);
	}
	threshold->last_bytes = bytes;
	threshold->last_ns = at_ns;
}

void threshold_open(struct threshold *threshold)
{
	bool is_size =
		threshold->opts->at_bytes && threshold->last_bytes >= threshold->opts->at_bytes;
	char amount[AMOUNT_TEXT_SIZE];

	threshold->waits = false;
	if (threshold->is_out) {
		log_note("reports begin: the kernel has killed a traced process because memory ran "
			 "out");
		return;
	}
	text_amount((double)threshold->last_bytes, amount);
	log_note("reports begin: %s outstanding after %.0f s, the amount of %s", amount,
		 (double)threshold->last_ns / NSEC_PER_SEC, is_size ? "--at-bytes" : "--at-growth");
}

void threshold_end(struct threshold *threshold)
{
	char amount[AMOUNT_TEXT_SIZE];

	if (!threshold->waits)
		return;
	if (threshold->is_reached || threshold->is_out) {
		threshold_open(threshold);
		return;
	}
	text_amount((double)threshold->most_bytes, amount);
	log_note("no report: the amount of %s was not reached; at most %s was outstanding",
		 !threshold->opts->at_growth.bytes ? "--at-bytes"
		 : threshold->opts->at_bytes       ? "--at-bytes or --at-growth"
						   : "--at-growth",
		 amount);
}
