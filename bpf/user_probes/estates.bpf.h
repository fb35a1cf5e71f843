/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which images have heirs: forked children, theirs, and so on, that are still there. */
#ifndef ESTATES_BPF_H
#define ESTATES_BPF_H

#include "bpf/inheritance.h"
#include "bpf/track.bpf.h"
#include "bpf/user_probes/members.bpf.h"

/* So far forebears are looked for. */
#define FOREBEARS_MAX 8

/* By image. The sizes of these are set by the loader before load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_estate);
} estates SEC(".maps");

/* A constant: without it nothing of this is left in the programs. -C keeps no blocks. */
static __always_inline bool children_inherit(void)
{
	return members.follow && !config.combined_only;
}

/* When the image last made a child, if any has something of it; else 0. */
static __always_inline __u64 estate__forked_ns(__u32 image)
{
	const struct memleak_estate *estate = bpf_map_lookup_elem(&estates, &image);

	return estate && estate->users > 1 ? estate->forked_ns : 0;
}

/* False: the child has nothing, which is counted. */
static __always_inline bool estate__fork(__u32 parent, __u32 child, __u64 now)
{
	struct memleak_estate fresh = {.users = 1}, *estate;

	bpf_map_update_elem(&estates, &parent, &fresh, BPF_NOEXIST);
	estate = bpf_map_lookup_elem(&estates, &parent);
	fresh.parent = parent;
	if (!estate || bpf_map_update_elem(&estates, &child, &fresh, BPF_ANY)) {
		count(MEMLEAK_LOST_INHERITED, 1);
		return false;
	}
	__sync_fetch_and_add(&estate->users, 1);
	estate->forked_ns = now;
	return true;
}

/*
 * The image is no more. What has no user has nothing to do with its forebears either. Where it
 * cannot be known who is the last, they keep more than is needed, which the loader deletes.
 */
static __always_inline void estate__leave(__u32 image)
{
	if (!children_inherit() || !config.exchange)
		return;
	for (int i = 0; i < FOREBEARS_MAX; i++) {
		struct memleak_estate *estate = bpf_map_lookup_elem(&estates, &image);
		__u32 parent;

		if (!estate || __sync_fetch_and_add(&estate->users, -1) != 1)
			return;
		parent = estate->parent;
		bpf_map_delete_elem(&estates, &image);
		image = parent;
	}
}

/* Whether a forebear may have, or have had, a block at an address. */
static __always_inline bool forebears__may_hold(__u32 image, __u64 addr)
{
	struct memleak_block_key key = {.addr = addr};

	for (int i = 0; i < FOREBEARS_MAX; i++) {
		const struct memleak_estate *estate = bpf_map_lookup_elem(&estates, &image);

		if (!estate || !estate->parent)
			return false;
		image = estate->parent;
		key.image = image;
		if (block__may_be_held(&key))
			return true;
	}
	return true;
}

#endif
