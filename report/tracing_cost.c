// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes how much of the processes' CPU time the probes take. */
#include "report/tracing_cost.h"

/*
 * Minimum CPU time of the processes, in nanoseconds, for computing the share that probes took. With
 * less CPU time, the share would be too inexact: the kernel counts CPU time in steps of 10 ms.
 */
#define LEAST_CPU_NS 50000000ULL

/*
 * Maximum returned share. For a program that does nothing but allocate, the estimate may exceed 1.
 */
#define MOST 0.99

bool tracing_cost_is_known(const struct tracing_cost *cost)
{
	return cost->elapsed_ns && cost->cpu_ns >= LEAST_CPU_NS;
}

double tracing_cost_calls_per_s(const struct tracing_cost *cost)
{
	return (double)cost->calls * 1e9 / (double)cost->elapsed_ns;
}

double tracing_cost_share(const struct tracing_cost *cost)
{
	double share = (double)cost->ns / (double)cost->cpu_ns;

	return share < MOST ? share : MOST;
}

double tracing_cost_processors(const struct tracing_cost *cost)
{
	return tracing_cost_share(cost) * (double)cost->cpu_ns / (double)cost->elapsed_ns;
}

double tracing_cost_saving(const struct tracing_cost *cost, double sampled)
{
	double share = tracing_cost_share(cost);
	double traps = (double)cost->trap_ns / (double)cost->cpu_ns;

	return traps < share ? (1 - sampled) * (share - traps) : 0;
}

double tracing_cost_least_share(const struct tracing_cost *cost, double sampled)
{
	double share = tracing_cost_share(cost);
	double saving = tracing_cost_saving(cost, sampled);

	return (share - saving) / (1 - saving);
}
