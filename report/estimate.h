/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sampled blocks say of all blocks, by the estimator of Horvitz and Thompson: each counts for
 * as many as its probability of being sampled is small, and the estimates of the blocks are added.
 * Blocks are sampled independently of each other, which gives the variance.
 */
#ifndef REPORT_ESTIMATE_H
#define REPORT_ESTIMATE_H

#include <stdint.h>

enum sampling_mode { SAMPLING_NONE, SAMPLING_COUNT, SAMPLING_BYTES };

/* Of a block that was not left to chance. */
#define SAMPLED_FOR_CERTAIN UINT64_MAX

struct sampling {
	enum sampling_mode mode;
	uint64_t rate; /* one call in rate, or one sample per rate bytes on average */
};

struct estimate {
	double bytes;
	double count;
	double bytes_variance; /* NAN, here and below: not known */
	double count_variance;
};

/*
 * Adds a sampled block. sampled_size: when it was sampled, as it may have shrunk or grown since; or
 * SAMPLED_FOR_CERTAIN.
 */
void estimate_add(struct estimate *sum, const struct sampling *sampling, uint64_t size,
		  uint64_t sampled_size);

/* Adds so many blocks of which no size is known: their bytes have no variance then. */
void estimate_add_sizeless(struct estimate *sum, const struct sampling *sampling, uint64_t cnt);

void estimate_join(struct estimate *sum, const struct estimate *part);

/* The nearest whole number. */
uint64_t estimate_rounded(double value);

/* The standard error, rounded up: 0 if all was looked at. */
uint64_t estimate_error(double variance);

#endif
