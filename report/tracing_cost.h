/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU time that probes take from traced processes, since the last report. */
#ifndef REPORT_TRACING_COST_H
#define REPORT_TRACING_COST_H

#include <stdbool.h>
#include <stdint.h>

struct tracing_cost {
	uint64_t elapsed_ns; /* time since the last report; 0 if nothing is known */
	uint64_t calls;
	uint64_t cpu_ns;  /* CPU time of the traced processes */
	uint64_t ns;      /* part of cpu_ns in probes, extrapolated from some of the calls */
	uint64_t trap_ns; /* part of ns in traps that occur even for calls that are not sampled */
	bool is_least;    /* ns is a lower bound: single-stepped calls cost more than measured */
};

/* True if the processes used enough CPU time for a share to mean anything. */
bool tracing_cost_is_known(const struct tracing_cost *cost);

double tracing_cost_calls_per_s(const struct tracing_cost *cost);

/* Returns the part of the processes' CPU time that probes take, from 0 to 1. */
double tracing_cost_share(const struct tracing_cost *cost);

/* Returns the lowest share, from 0 to 1, that sampling could reach. */
double tracing_cost_least_share(const struct tracing_cost *cost);

#endif
