/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the cost of a call to a probed function. The kernel times BPF programs only for a while,
 * because timing slows down all BPF programs of the machine. The cost of a trap is measured when
 * memleak starts.
 */
#ifndef LOADER_TABLES_COST_METER_H
#define LOADER_TABLES_COST_METER_H

#include <bpf/libbpf.h>

#include "report/tracing_cost.h"

/*
 * Sums since tracing began. run_ns and `runs` cover only the time in which the kernel timed BPF
 * programs.
 */
struct cost_sums {
	uint64_t run_ns;
	uint64_t runs;  /* number of BPF program runs started by a trap */
	uint64_t calls; /* number of calls since tracing began */
};

struct cost_meter {
	uint64_t trap_ns;     /* CPU time of one trap; 0 if unknown */
	int stats_fd;         /* the kernel times BPF programs while this descriptor is open */
	unsigned int windows; /* number of periods between reports in which calls were timed */
	struct cost_sums begun;
	/* true to time all calls, so that the cost is measured, not extrapolated from a few calls
	 */
	bool times_all;
	double call_ns; /* cost of a call; 0 if unknown */
	uint64_t ns;    /* cost of all calls that were timed so far */
	/*
	 * Sums since tracing began: `reported` up to the last report, `now` up to the last call of
	 * cost_meter_report(). The field `ns` is 0 in both, unless all calls are timed.
	 */
	struct tracing_cost reported;
	struct tracing_cost now;
};

/*
 * Makes the kernel time BPF programs until the returned descriptor is closed. Needs CAP_SYS_ADMIN.
 * Returns -1 on failure.
 */
int cost_meter_open(void);

void cost_meter_init(struct cost_meter *meter);
void cost_meter_deinit(struct cost_meter *meter);

/* True if the cost of a call is known or can still be measured. */
bool cost_meter_runs(const struct cost_meter *meter);
/* Starts measuring. Called when tracing begins. sums: the sums at that time. */
void cost_meter_begin(struct cost_meter *meter, const struct bpf_object *object,
		      const struct tracing_cost *sums);
/* Returns the sums up to now. calls: number of calls since tracing began. */
struct cost_sums cost_meter_sums(const struct bpf_object *object, uint64_t calls);
/* Returns the CPU time, in ns, of the calls between two sums. */
uint64_t cost_meter_ns(const struct cost_meter *meter, const struct cost_sums *begun,
		       const struct cost_sums *ended);
/*
 * Estimates the cost of a call from the runs of BPF programs since cost_meter_begin() or the last
 * call of this function. Does nothing once the cost has been measured often enough, unless all
 * calls are timed.
 */
void cost_meter_take(struct cost_meter *meter, const struct bpf_object *object, uint64_t calls);

/* Sets the cost of a call from the difference between two sums, unless there were too few calls. */
void cost_meter_judge(struct cost_meter *meter, const struct cost_sums *begun,
		      const struct cost_sums *ended);

/* Returns the cost of tracing since the last report; all fields are 0 if the cost is unknown. */
struct tracing_cost cost_meter_report(struct cost_meter *meter, const struct tracing_cost *sums);
/* Call after a report that includes the latest result of cost_meter_report(). */
void cost_meter_reported(struct cost_meter *meter);

#endif
