/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities of the calling thread (capabilities(7)), as sets of bits. */
#ifndef BASE_CAPABILITIES_H
#define BASE_CAPABILITIES_H

#include <linux/capability.h>
#include <stdint.h>

#define CAPABILITY(cap) (1ULL << (cap))

struct capability_sets {
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
};

/* 0 or a negative errno. */
int capabilities_read(struct capability_sets *ret);
/* Nothing is inheritable afterwards, hence nothing ambient. 0 or a negative errno. */
int capabilities_set(uint64_t effective, uint64_t permitted);
/* No program that is run has more than these. What may not change that (CAP_SETPCAP) does not. */
void capabilities_bound(uint64_t kept);

#endif
