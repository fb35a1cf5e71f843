/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which probed functions end with a jump to another probed function: that decides whether the
 * kernel can be told not to report a return.
 *
 * Such a jump looks like a second call from the same place. If a return is awaited, its trampoline
 * stands in the slot of the call and tells the jump from a call. So the first returns of every
 * function are awaited, and all returns of a function that was seen to jump.
 */
#ifndef BPF_USER_PROBES_FUNCTIONS_BPF_H
#define BPF_USER_PROBES_FUNCTIONS_BPF_H

#include "bpf/track.bpf.h"

#define FUNCTION_PLACE_BITS 10
#define FUNCTION_RETURNS 64 /* returns that are awaited before a function is known */
#define FUNCTION_HANDS_ON 0xffffULL

/*
 * By hash of function and image: the hash, and in its low bits how many returns were seen. Written
 * without a lock, as single words: of two functions with one place each overwrites the other.
 */
__u64 functions[1U << FUNCTION_PLACE_BITS];

static __always_inline __u64 *function__find(__u32 image, __u64 addr, __u64 *name)
{
	__u64 hash = hash_mix(hash_mix(0, image), addr);

	*name = hash & ~FUNCTION_HANDS_ON;
	return &functions[hash >> (64 - FUNCTION_PLACE_BITS)];
}

static __always_inline void function__hands_on(__u32 image, __u64 addr)
{
	__u64 name, *known = function__find(image, addr, &name);

	if (config.sessions)
		*known = name | FUNCTION_HANDS_ON;
}

static __always_inline void function__returned(__u32 image, __u64 addr)
{
	__u64 name, *known = function__find(image, addr, &name), now = *known;

	if (!config.sessions)
		return;
	if ((now & ~FUNCTION_HANDS_ON) != name)
		*known = name | 1;
	else if ((now & FUNCTION_HANDS_ON) < FUNCTION_RETURNS)
		*known = now + 1;
}

/* Whether the function is known to return to its caller. */
static __always_inline bool function__is_known(__u32 image, __u64 addr)
{
	__u64 name, *known = function__find(image, addr, &name);

	return *known == (name | FUNCTION_RETURNS);
}

#endif
