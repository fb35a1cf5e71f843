/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time that probes took from the traced processes since the previous report. */
#ifndef REPORT_TRACING_COST_H
#define REPORT_TRACING_COST_H

#include <stdbool.h>
#include <stdint.h>

struct tracing_cost {
	uint64_t elapsed_ns; /* time since the last report; 0 if the cost is not known */
	uint64_t calls;
	uint64_t cpu_ns; /* CPU time of the traced processes */
	/* Part of cpu_ns that probes took, extrapolated from the measured calls. */
	uint64_t ns;
	/*
	 * Part of `ns` that traps took. Sampling does not reduce this part, because each call
	 * causes traps.
	 */
	uint64_t trap_ns;
	/*
	 * True if the probes took more than `ns`, because calls that the kernel single-steps cost
	 * more than the measured calls.
	 */
	bool is_least;
	/* --max-overhead: the maximum share of cpu_ns for probes, known even if the cost is not; or
	 * 0 */
	double most_share;
	/*
	 * With most_share: present mean distance between samples, in bytes; 0 if all blocks are
	 * recorded.
	 */
	uint64_t sample_bytes;
};

/* True if the processes used enough CPU time for computing the share that probes took. */
bool tracing_cost_is_known(const struct tracing_cost *cost);

double tracing_cost_calls_per_s(const struct tracing_cost *cost);

/* Returns the fraction of the processes' CPU time that probes take, from 0 to 1. */
double tracing_cost_share(const struct tracing_cost *cost);

/* Returns the CPU time that probes take in each second, in seconds: 0.01 is 1 % of a processor. */
double tracing_cost_processors(const struct tracing_cost *cost);

/*
 * Returns the fraction of the processes' CPU time, from 0 to 1, that sampling would save at most.
 * sampled: fraction of the calls that would be sampled.
 */
double tracing_cost_saving(const struct tracing_cost *cost, double sampled);

/*
 * Returns the lowest fraction of the processes' CPU time, from 0 to 1, to which sampling could
 * reduce the cost of the probes. sampled: as for tracing_cost_saving().
 */
double tracing_cost_least_share(const struct tracing_cost *cost, double sampled);

#endif
