/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --sample-bytes: the distance in bytes from one sample to the next. It is exponentially
 * distributed, and drawn by integer arithmetic, as programs have no other, and without branches,
 * which a verifier would follow both ways. Knows nothing of BPF, so that a test can compare it with
 * libm.
 */
#ifndef BPF_EXPONENTIAL_H
#define BPF_EXPONENTIAL_H

#include <linux/types.h>
#include <stdbool.h>

#define EXPONENTIAL_MAX_MEAN (1ULL << 40)
#define LN2_Q58 0x2c5c85fdf473de7ULL

/* The upper half of the product. */
static inline __attribute__((always_inline)) __u64 multiply_high(__u64 a, __u64 b)
{
	__u64 a_low = (__u32)a, a_high = a >> 32, b_low = (__u32)b, b_high = b >> 32;
	__u64 middle = a_high * b_low + (a_low * b_low >> 32);
	__u64 other = a_low * b_high + (__u32)middle;

	return a_high * b_high + (middle >> 32) + (other >> 32);
}

/*
 * -ln(1 - part / 2^64) with 58 bits behind the point, for a part up to 2^63. The polynomial, in
 * 32 bits behind the point, is -ln(1 - x) / x within 8 millionths: interpolated at the six
 * Chebyshev nodes of 0 to 1/2. The error is relative, so that it is small for small results, too.
 */
static inline __attribute__((always_inline)) __u64 log_of_rest(__u64 part)
{
	__s64 x = part >> 33, sum = 0xd4540fb0LL; /* x: 31 bits behind the point */

	sum = -0x4a4c948cLL + (sum * x >> 31);
	sum = 0x64f92565LL + (sum * x >> 31);
	sum = 0x50b27b95LL + (sum * x >> 31);
	sum = 0x80348ed2LL + (sum * x >> 31);
	sum = 0xffffa1faLL + (sum * x >> 31);
	return multiply_high(part, (__u64)sum << 26);
}

/* If the highest `by` bits are all 0, moves all bits up by as many. */
#define MOVE_UP(bits, moved, by)                                                                   \
	do {                                                                                       \
		__u64 none = (((bits) >> (64 - (by))) - 1) >> 63;                                  \
                                                                                                   \
		(bits) <<= none * (by);                                                            \
		(moved) += none * (by);                                                            \
	} while (0)

/*
 * A number of exponential distribution, rounded up: at least 1, and at most n with the probability
 * 1 - e^(-n / mean), which is met within 10 millionths of itself. random: 64 random bits;
 * mean: 1 to EXPONENTIAL_MAX_MEAN.
 *
 * It is -ln(u) * mean for u = random / 2^64, and u = m / 2^k with m from 1/2 to 1.
 */
static inline __attribute__((always_inline)) __u64 exponential_draw(__u64 random, __u64 mean)
{
	__u64 bits = random | 1, k = 0;

	MOVE_UP(bits, k, 32);
	MOVE_UP(bits, k, 16);
	MOVE_UP(bits, k, 8);
	MOVE_UP(bits, k, 4);
	MOVE_UP(bits, k, 2);
	MOVE_UP(bits, k, 1);
	return multiply_high(k * LN2_Q58 + log_of_rest(-bits), mean << 6) + 1;
}

/*
 * Whether the next sample lies in these bytes. left: the bytes up to it; 0, as in fresh memory, if
 * it is yet to be drawn, and afterwards if the sample lay here. An exponential distance has no
 * memory: whatever was subtracted, and whether or not there was a sample just before, a block of S
 * bytes holds the next one with the probability 1 - e^(-S / mean), independently of all others. A
 * block of 0 bytes counts as one of 1: a block that is never sampled could not be estimated.
 */
static inline __attribute__((always_inline)) bool countdown__ends(__u64 *left, __u64 size)
{
	if (!size)
		size = 1;
	if (size < *left) {
		*left -= size;
		return false;
	}
	*left = 0;
	return true;
}

#endif
