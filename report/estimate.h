/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates sums over all blocks from the sampled blocks, by the Horvitz-Thompson estimator: the
 * weight of a sampled block is the inverse of the probability that it was sampled. The variance is
 * computed on the assumption that blocks are sampled independently of each other.
 */
#ifndef REPORT_ESTIMATE_H
#define REPORT_ESTIMATE_H

#include <stdint.h>

enum sampling_mode { SAMPLING_NONE, SAMPLING_COUNT, SAMPLING_BYTES, SAMPLING_STEPS };

/* Value of sampled_size for a block that is always sampled. */
#define SAMPLED_FOR_CERTAIN UINT64_MAX

struct sampling {
	enum sampling_mode mode;
	/*
	 * SAMPLING_COUNT: one of `rate` calls is sampled. SAMPLING_BYTES: on average, there is one
	 * sample per `rate` bytes. SAMPLING_STEPS: the same, but there was a time with more samples
	 * or with all blocks; sampled_size of a block allows for that (see sampled_size_of_step()).
	 */
	uint64_t rate;
};

struct estimate {
	double bytes;
	double count;
	double bytes_variance; /* variance of bytes; NAN if not known */
	double count_variance; /* variance of count; NAN if not known */
};

/*
 * Adds a sampled block. sampled_size is the size when the block was sampled, which may differ from
 * its present size, or SAMPLED_FOR_CERTAIN.
 */
void estimate_add(struct estimate *sum, const struct sampling *sampling, uint64_t size,
		  uint64_t sampled_size);

/*
 * Returns the sampled_size, for SAMPLING_STEPS, of a heap block that was sampled when there was one
 * sample per `rate` / `times` bytes: a block of this size has the same probability now.
 */
uint64_t sampled_size_of_step(uint64_t size, uint64_t times);

/* Adds cnt blocks of unknown size. With sampling, the variance of the bytes is then NAN. */
void estimate_add_sizeless(struct estimate *sum, const struct sampling *sampling, uint64_t cnt);

void estimate_join(struct estimate *sum, const struct estimate *part);

/* Returns the nearest whole number; 0 if the value is negative. */
uint64_t estimate_rounded(double value);

/* Returns the standard error, rounded up; 0 if no blocks were left out by sampling. */
uint64_t estimate_error(double variance);

#endif
