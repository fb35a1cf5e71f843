/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --sample-bytes: draws exponentially distributed distances between samples, in bytes. Uses
 * integers only, since BPF has no floating point. Has no branches, since a verifier would follow
 * both sides of each. Does not depend on BPF, so that a test can compare it with libm.
 */
#ifndef BPF_EXPONENTIAL_H
#define BPF_EXPONENTIAL_H

#include <linux/types.h>
#include <stdbool.h>

#define EXPONENTIAL_MAX_MEAN (1ULL << 40)
#define LN2_Q58 0x2c5c85fdf473de7ULL

/* Returns the upper half of the 128-bit product. */
static inline __attribute__((always_inline)) __u64 multiply_high(__u64 a, __u64 b)
{
	__u64 a_low = (__u32)a, a_high = a >> 32, b_low = (__u32)b, b_high = b >> 32;
	__u64 middle = a_high * b_low + (a_low * b_low >> 32);
	__u64 other = a_low * b_high + (__u32)middle;

	return a_high * b_high + (middle >> 32) + (other >> 32);
}

/*
 * Returns -ln(1 - part / 2^64) as a fixed-point number with 58 fraction bits, for part up to 2^63.
 * The polynomial, whose coefficients have 32 fraction bits, interpolates -ln(1 - x) / x at the six
 * Chebyshev nodes of the interval [0, 1/2], and differs from it by at most 8 millionths. The error
 * is relative, so it is small for small results, too.
 */
static inline __attribute__((always_inline)) __u64 log_of_rest(__u64 part)
{
	__s64 x = part >> 33, sum = 0xd4540fb0LL; /* x has 31 fraction bits */

	sum = -0x4a4c948cLL + (sum * x >> 31);
	sum = 0x64f92565LL + (sum * x >> 31);
	sum = 0x50b27b95LL + (sum * x >> 31);
	sum = 0x80348ed2LL + (sum * x >> 31);
	sum = 0xffffa1faLL + (sum * x >> 31);
	return multiply_high(part, (__u64)sum << 26);
}

/*
 * If the highest `by` bits of `bits` are 0, shifts `bits` left by `by`, and adds `by` to `moved`.
 */
#define MOVE_UP(bits, moved, by)                                                                   \
	do {                                                                                       \
		__u64 none = (((bits) >> (64 - (by))) - 1) >> 63;                                  \
                                                                                                   \
		(bits) <<= none * (by);                                                            \
		(moved) += none * (by);                                                            \
	} while (0)

/*
 * Returns an exponentially distributed number, rounded up, at least 1. It is at most n with
 * probability 1 - e^(-n / mean), within 10 millionths of that value. random: 64 random bits; mean:
 * 1 to EXPONENTIAL_MAX_MEAN.
 *
 * The number is -ln(u) * mean with u = random / 2^64. If u is written as m / 2^k, with m between
 * 1/2 and 1, -ln(u) is k * ln(2) - ln(m).
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
 * True if the next sample lies in the next `size` bytes. *left is the number of bytes until that
 * sample, drawn by the caller. It is reduced by `size`, or set to 0 if the sample is reached: the
 * caller must then draw the next distance. The exponential distribution has no memory:
 * independently of earlier calls, a block of S bytes contains a sample with probability 1 - e^(-S /
 * mean). Size 0 counts as 1: otherwise such blocks would never be sampled, and their number could
 * not be estimated.
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
