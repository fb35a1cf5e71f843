/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and sets the calling thread's capabilities (capabilities(7)), as bit sets. */
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

/* Reads the thread's capabilities. Returns 0 or a negative errno. */
int capabilities_read(struct capability_sets *ret);
/*
 * Sets the thread's capabilities. Also clears the inheritable capabilities; the kernel then clears
 * the ambient ones. Returns 0 or a negative errno.
 */
int capabilities_set(uint64_t effective, uint64_t permitted);
/*
 * Limits the bounding set to `kept`: programs executed later can get no other capabilities. Does
 * nothing without CAP_SETPCAP.
 */
void capabilities_bound(uint64_t kept);

#endif
