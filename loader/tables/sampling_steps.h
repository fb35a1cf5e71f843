/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides about the sampling step of --max-overhead, by the cost of tracing in successive windows
 * of time. Knows neither how the cost is measured nor how a step takes effect.
 */
#ifndef LOADER_TABLES_SAMPLING_STEPS_H
#define LOADER_TABLES_SAMPLING_STEPS_H

#include <stdbool.h>
#include <stdint.h>

struct sampling_steps {
	double most_share; /* the share of CPU time that tracing may cost */
	uint64_t mean;     /* distance between samples in step 1, in bytes */
	unsigned int finest;
	unsigned int coarsest;
	unsigned int step;
	unsigned int highest; /* highest step so far */
	/* number of successive windows with too high a cost in the coarsest step */
	unsigned int over_cnt;
	unsigned int low_cnt;   /* number of successive windows with a low cost */
	unsigned int patience;  /* number of such windows before a step down */
	unsigned int since_cnt; /* number of windows since the last step down */
	bool stepped_down;      /* true if the last step was down */
	bool is_failed;         /* true if the cost is too high even with the coarsest step */
};

/* sample_bytes: from --sample-bytes, or 0; otherwise as in struct sampling_steps. */
struct sampling_steps sampling_steps_of(double most_share, uint64_t sample_bytes, uint64_t mean);

/* Chooses the step for the next window. share: share of CPU time that tracing cost in the last. */
void sampling_steps_judge(struct sampling_steps *steps, double share);

/* Goes to a step, but at most to the coarsest. */
void sampling_steps_go_to(struct sampling_steps *steps, unsigned int step);

/* Returns the mean distance between samples in a step, in bytes; 0 if all blocks are recorded. */
uint64_t sampling_steps_distance(const struct sampling_steps *steps, unsigned int step);

#endif
