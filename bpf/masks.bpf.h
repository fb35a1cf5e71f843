/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparisons that compilers do not turn into branches; a verifier would follow both sides of each
 * branch. Each comparison ends with a complement: newer verifiers verify both cases separately if a
 * value is known to be 0 or -1, such as a shift's result, but not if it is the complement of such a
 * value.
 */
#ifndef BPF_MASKS_BPF_H
#define BPF_MASKS_BPF_H

#include "bpf/compat.bpf.h"

/* Returns all bits set if a < b, else 0; both must be below 2^63. */
static __always_inline __u64 mask_if_less(__u64 a, __u64 b)
{
	__u64 mask = (__u64)((__s64)(b - 1 - a) >> 63);

	barrier_var(mask);
	mask = ~mask;
	barrier_var(mask);
	return mask;
}

/* Returns all bits set if a equals b, else 0. */
static __always_inline __u64 mask_if_equal(__u64 a, __u64 b)
{
	__u64 differs = a ^ b, negative = -differs, mask;

	barrier_var(negative);
	mask = (__u64)((__s64)(differs | negative) >> 63);
	barrier_var(mask);
	mask = ~mask;
	barrier_var(mask);
	return mask;
}

#endif
