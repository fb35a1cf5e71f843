/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that are made up: blocks are born and die by chance, and are looked at every few seconds
 * as a run does, by ranking and trend as they are. What is said of the sites goes to whoever asks.
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
	double bytes_per_s; /* by which it is made larger */
	double sigma;       /* of sizes that are drawn anew for each report; 0: it has one */
	bool replaced;      /* it is another block in each report */
	uint32_t size;
	uint32_t site;
};

struct made_program {
	uint64_t random;
	struct made_block *blocks;
	size_t cnt;
	double interval_s;
	bool attached; /* memleak came at 0: of blocks from before it sees but the frees, */
	bool sized;    /* and perhaps what their sizes were */
};

int made_program_init(struct made_program *ret);
void made_program_deinit(struct made_program *program);
/* Begins another program; the same seed makes the same one. */
void made_program_begin(struct made_program *program, uint64_t seed);

double made_uniform(struct made_program *program);
double made_between(struct made_program *program, double low, double high);
/* As likely between 1 and 2 as between 10 and 20. */
double made_scale(struct made_program *program, double low, double high);
double made_exponential(struct made_program *program, double mean);
double made_lognormal(struct made_program *program, double mean, double sigma);

void made_block(struct made_program *program, uint32_t site, double birth_s, double life_s,
		uint32_t size);
/* Blocks that come by chance, so many a second, and live for so long on average. */
void made_churn(struct made_program *program, uint32_t site, double from_s, double to_s,
		double per_second, double life_s, uint32_t size);
void made_leak(struct made_program *program, uint32_t site, double from_s, double to_s,
	       double per_second, uint32_t size);

/* growth: of each site. */
typedef void made_report_fn(void *arg, double at_s, const struct site *sites,
			    const struct growth *growth);

/* Reports up to a time, each of which is told. Sorts the blocks by birth. */
void made_program_run(struct made_program *program, double until_s, made_report_fn *told,
		      void *arg);

/* What the last report says of each site. */
void made_program_judge(struct made_program *program, double until_s, struct trend *ret);

#endif
