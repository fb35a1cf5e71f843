/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates programs whose blocks are allocated and freed at random. Snapshots are taken at regular
 * intervals and go through the real ranking and trend code; callbacks receive the results.
 */
#ifndef TESTS_UNIT_LIB_MADE_PROGRAM_H
#define TESTS_UNIT_LIB_MADE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/ranking.h"

#define MADE_SITES 4
#define MADE_BLOCKS 4000000
#define FOREVER 1e9

struct made_block {
	double birth_s;
	double death_s;
	double bytes_per_s; /* rate at which the block grows without being replaced */
	/* standard deviation of the log-normal size, drawn for each report; 0: fixed */
	double sigma;
	bool replaced; /* replaced before each report, so always young */
	uint32_t size;
	uint32_t site;
};

struct made_program {
	uint64_t random;
	struct made_block *blocks;
	size_t cnt;
	double interval_s;
	/* tracing begins at time 0: an earlier block is noticed only when it is freed */
	bool attached;
	bool sized; /* frees of blocks from before time 0 have a size */
};

int made_program_init(struct made_program *ret);
void made_program_deinit(struct made_program *program);
/* Begins a program without blocks. Equal seeds give equal programs. */
void made_program_begin(struct made_program *program, uint64_t seed);

double made_uniform(struct made_program *program);
double made_between(struct made_program *program, double low, double high);
/* Returns a log-uniform random number: 1 to 2 is as likely as 10 to 20. */
double made_scale(struct made_program *program, double low, double high);
double made_exponential(struct made_program *program, double mean);
double made_lognormal(struct made_program *program, double mean, double sigma);

void made_block(struct made_program *program, uint32_t site, double birth_s, double life_s,
		uint32_t size);
/*
 * Adds blocks at random times, per_second on average. Their lifetimes are random, life_s on
 * average.
 */
void made_churn(struct made_program *program, uint32_t site, double from_s, double to_s,
		double per_second, double life_s, uint32_t size);
void made_leak(struct made_program *program, uint32_t site, double from_s, double to_s,
	       double per_second, uint32_t size);

/* Called with each report. `growth` has one element for each site. */
typedef void made_report_fn(void *arg, double at_s, const struct site *sites,
			    const struct growth *growth);

/* Calls report_fn for each report until the time until_s. Sorts the blocks by birth. */
void made_program_run(struct made_program *program, double until_s, made_report_fn *report_fn,
		      void *arg);

/* Sets `ret` to the trend of each site at the last report before until_s. */
void made_program_judge(struct made_program *program, double until_s, struct trend *ret);

#endif
