/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparisons that compilers do not see through. They would branch, and a verifier would follow
 * both ways each time.
 */
#ifndef MASKS_BPF_H
#define MASKS_BPF_H

#include "bpf/compat.bpf.h"

/* All bits if a < b, else none; both below 2^63. */
static __always_inline __u64 mask_if_less(__u64 a, __u64 b)
{
	__u64 mask = (__u64)((__s64)(a - b) >> 63);

	barrier_var(mask);
	return mask;
}

/* All bits if they are equal, else none. */
static __always_inline __u64 mask_if_equal(__u64 a, __u64 b)
{
	__u64 differs = a ^ b, negative = -differs, mask;

	barrier_var(negative);
	mask = ~(__u64)((__s64)(differs | negative) >> 63);
	barrier_var(mask);
	return mask;
}

#endif
