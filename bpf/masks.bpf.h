/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparisons that compilers do not turn into branches, which a verifier would follow both ways
 * each time. The last step of each is an exclusive or: newer verifiers follow both values of what
 * is known to be 0 or -1, as a shift gives it, and do not know that of its complement.
 */
#ifndef BPF_MASKS_BPF_H
#define BPF_MASKS_BPF_H

#include "bpf/compat.bpf.h"

/* All bits are set if a < b, else none; both are below 2^63. */
static __always_inline __u64 mask_if_less(__u64 a, __u64 b)
{
	__u64 mask = (__u64)((__s64)(b - 1 - a) >> 63);

	barrier_var(mask);
	mask = ~mask;
	barrier_var(mask);
	return mask;
}

/* All bits are set if they are equal, else none. */
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
