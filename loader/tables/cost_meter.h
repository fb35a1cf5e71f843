/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures what one call of a probed function costs: the kernel times the programs at first, as
 * that costs time for every BPF program of the machine, and traps were timed when memleak began.
 */
#ifndef LOADER_TABLES_COST_METER_H
#define LOADER_TABLES_COST_METER_H

#include <bpf/libbpf.h>

#include "report/tracing_cost.h"

/* Since tracing began, as far as the kernel timed programs. */
struct cost_sums {
	uint64_t run_ns;
	uint64_t runs;  /* of programs behind a trap */
	uint64_t calls; /* since tracing began */
};

struct cost_meter {
	uint64_t trap_ns;     /* CPU time of one trap; 0: not known */
	int stats_fd;         /* the kernel times programs while it is open */
	unsigned int windows; /* in which calls were timed */
	struct cost_sums begun;
	double call_ns; /* 0: not known */
	/* Sums since tracing began, as of the last report and now; ns is not set. */
	struct tracing_cost reported;
	struct tracing_cost now;
};

/* Has the kernel time programs until it is closed. Takes CAP_SYS_ADMIN. -1: it cannot be. */
int cost_meter_open(void);

void cost_meter_init(struct cost_meter *meter);
void cost_meter_deinit(struct cost_meter *meter);

/* False: nothing is known and nothing will be. */
bool cost_meter_runs(const struct cost_meter *meter);
/* Tracing begins with these sums. */
void cost_meter_begin(struct cost_meter *meter, const struct bpf_object *object,
		      const struct tracing_cost *sums);
/* Judges what programs did since the last time, unless enough was judged before. */
void cost_meter_take(struct cost_meter *meter, const struct bpf_object *object, uint64_t calls);

/* Sets what a call costs by what programs did between two moments, unless that was too little. */
void cost_meter_judge(struct cost_meter *meter, const struct cost_sums *begun,
		      const struct cost_sums *ended);

/* Returns the cost since the last report. */
struct tracing_cost cost_meter_report(struct cost_meter *meter, const struct tracing_cost *sums);
/* The last cost was reported. */
void cost_meter_reported(struct cost_meter *meter);

#endif
