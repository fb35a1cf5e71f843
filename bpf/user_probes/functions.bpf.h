/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks which probed functions end with a tail call (a jump to another probed function). The
 * return of a call can go unreported only if its function makes no tail call.
 *
 * While a return probe awaits the return of a call, the call's stack slot holds the address of the
 * return trampoline. A tail call is recognised because it finds the trampoline in its slot; without
 * a return probe, it would look like a second call from the same place. So the returns of a
 * function are reported until FUNCTION_RETURNS of them were seen. If a function was seen to make a
 * tail call, all its returns are reported.
 */
#ifndef BPF_USER_PROBES_FUNCTIONS_BPF_H
#define BPF_USER_PROBES_FUNCTIONS_BPF_H

#include "bpf/track.bpf.h"

#define FUNCTION_PLACE_BITS 10
/* after this number of returns, a function is known to make no tail call */
#define FUNCTION_RETURNS 64
#define FUNCTION_HANDS_ON 0xffffULL

/*
 * Indexed by a hash of function and image. An entry is the hash with its low bits replaced by the
 * number of returns seen, or by FUNCTION_HANDS_ON after a tail call. Entries are written as single
 * words; functions with the same index overwrite each other.
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

/* True if the function is known to return to its caller: it makes no tail call. */
static __always_inline bool function__is_known(__u32 image, __u64 addr)
{
	__u64 name, *known = function__find(image, addr, &name);

	return *known == (name | FUNCTION_RETURNS);
}

#endif
