/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides when --at-bytes and --at-growth let the reports begin: when an amount is reached, or when
 * the kernel kills a traced process because memory ran out. The growth is measured over the
 * period of --at-growth, or since tracing began if that is shorter.
 */
#ifndef APP_THRESHOLD_H
#define APP_THRESHOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/options.h"

/* Maximum number of totals that are remembered to measure the growth */
#define THRESHOLD_TOTALS 64

struct threshold {
	const struct options *opts;
	bool waits;      /* true until reports begin; false from the start without the options */
	bool is_reached; /* true if the latest total has reached an amount */
	bool is_out;     /* true if memory has run out for a traced process */
	uint64_t most_bytes; /* largest total so far */
	uint64_t last_bytes; /* latest total */
	uint64_t last_ns;    /* time of the latest total since tracing began */
	/* Totals of about one period, oldest first */
	struct {
		uint64_t bytes;
		uint64_t at_ns;
	} totals[THRESHOLD_TOTALS];
	size_t cnt;
};

struct threshold threshold_of(const struct options *opts);

/*
 * Adds a total of outstanding bytes, and sets is_reached. at_ns: time of the total since tracing
 * began. Does nothing if the threshold does not wait.
 */
void threshold_add(struct threshold *threshold, uint64_t bytes, uint64_t at_ns);

/* Lets the reports begin, and logs why. */
void threshold_open(struct threshold *threshold);

/*
 * Must be called after the final report, and after one that tells that memory has run out. If the
 * threshold waits, ends that, and logs why, or that no amount was reached.
 */
void threshold_end(struct threshold *threshold);

#endif
