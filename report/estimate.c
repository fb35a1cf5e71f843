// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimates of totals from samples, and their variance. */
#include "report/estimate.h"

#include <math.h>
#include <stdbool.h>

/*
 * Probability p that a block is sampled, and 1 - p as a separate number, because subtracting p from
 * 1 would lose precision.
 */
struct chance {
	double taken;
	double left_out;
};

static struct chance chance_of(const struct sampling *sampling, uint64_t size)
{
	double distance, rate = (double)sampling->rate;

	if (size == SAMPLED_FOR_CERTAIN)
		return (struct chance){1, 0};
	switch (sampling->mode) {
	case SAMPLING_COUNT:
		return (struct chance){1 / rate, 1 - 1 / rate};
	case SAMPLING_BYTES:
	case SAMPLING_STEPS:
		/*
		 * Treat an empty block as a block of one byte, as the BPF programs do when they
		 * sample.
		 */
		distance = (double)(size ? size : 1) / rate;
		return (struct chance){-expm1(-distance), exp(-distance)};
	default:
		return (struct chance){1, 0};
	}
}

/*
 * A mapping that is unmapped in part becomes several blocks, each with the sampled_size of the
 * whole mapping. Either all of these blocks were sampled, or none. The variance computed for their
 * sum is exact until one of them is freed, and too large afterwards. With SAMPLING_STEPS, all
 * mappings are sampled, so each block is a whole one.
 */
void estimate_add(struct estimate *sum, const struct sampling *sampling, uint64_t size,
		  uint64_t sampled_size)
{
	struct chance chance = chance_of(sampling, sampled_size);
	double spread = chance.left_out / (chance.taken * chance.taken);
	bool is_part = size < sampled_size && sampling->mode != SAMPLING_STEPS;
	double whole = (double)(is_part ? sampled_size : size);

	sum->bytes += (double)size / chance.taken;
	sum->count += 1 / chance.taken;
	sum->bytes_variance += (double)size * whole * spread;
	sum->count_variance += spread;
}

uint64_t sampled_size_of_step(uint64_t size, uint64_t times)
{
	uint64_t scaled;

	if (__builtin_mul_overflow(size ? size : 1, times, &scaled))
		return SAMPLED_FOR_CERTAIN;
	return scaled;
}

void estimate_add_sizeless(struct estimate *sum, const struct sampling *sampling, uint64_t cnt)
{
	struct estimate one = {0};

	estimate_add(&one, sampling, 0, 0);
	sum->count += (double)cnt * one.count;
	sum->count_variance += (double)cnt * one.count_variance;
	sum->bytes_variance = sampling->mode == SAMPLING_NONE ? 0 : NAN;
}

void estimate_join(struct estimate *sum, const struct estimate *part)
{
	sum->bytes += part->bytes;
	sum->count += part->count;
	sum->bytes_variance += part->bytes_variance;
	sum->count_variance += part->count_variance;
}

/*
 * Converts a sum to an integer. The traced processes control the sizes, so huge sums must not
 * overflow.
 */
static uint64_t whole_number(double value)
{
	if (!(value > 0))
		return 0;
	return value >= 0x1p64 ? UINT64_MAX : (uint64_t)value;
}

uint64_t estimate_rounded(double value)
{
	return whole_number(round(value));
}

uint64_t estimate_error(double variance)
{
	return whole_number(ceil(sqrt(variance)));
}
