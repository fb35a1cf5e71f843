/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the references to each image: one until the last report on the image, and one for each
 * forked child that still has references itself.
 */
#ifndef BPF_USER_PROBES_IMAGE_REFS_BPF_H
#define BPF_USER_PROBES_IMAGE_REFS_BPF_H

#include "bpf/inheritance.h"
#include "bpf/track.bpf.h"
#include "bpf/user_probes/target_filter.bpf.h"

/* Maximum number of generations of ancestors that are searched. */
#define ANCESTORS_MAX 8

/* References to images; the key is the image. The loader sets max_entries before load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_image_refs);
} image_refs SEC(".maps");

/*
 * True if children inherit blocks: with --follow, unless -C (which keeps no blocks) or --fds is
 * given. Constant at load time, so that the verifier removes unneeded code.
 */
static __always_inline bool children_inherit(void)
{
	return target_filter.follow && !config.combined_only && !config.descriptors;
}

/* Returns the time when the image last forked; 0 if no descendant can still have its blocks. */
static __always_inline __u64 image_refs__forked_ns(__u32 image)
{
	const struct memleak_image_refs *refs = bpf_map_lookup_elem(&image_refs, &image);

	return refs && refs->users > 1 ? refs->forked_ns : 0;
}

/*
 * Registers a forked child. On failure, counts the failure and returns false; the child then
 * inherits nothing.
 */
static __always_inline bool image_refs__fork(__u32 parent, __u32 child, __u64 now)
{
	struct memleak_image_refs fresh = {.users = 1}, *refs;

	bpf_map_update_elem(&image_refs, &parent, &fresh, BPF_NOEXIST);
	refs = bpf_map_lookup_elem(&image_refs, &parent);
	fresh.parent = parent;
	if (!refs || bpf_map_update_elem(&image_refs, &child, &fresh, BPF_ANY)) {
		count(MEMLEAK_LOST_INHERITED, 1);
		return false;
	}
	__sync_fetch_and_add(&refs->users, 1);
	refs->forked_ns = now;
	return true;
}

/*
 * Removes a reference to an image. If it was the last one, deletes the image's entry, and removes
 * its reference to its parent likewise. Kernels without an atomic fetch-and-add cannot recognise
 * the last reference: there, only the entry of the image itself is deleted.
 */
static __always_inline void image_refs__leave(__u32 image)
{
	for (int i = 0; i < ANCESTORS_MAX; i++) {
		struct memleak_image_refs *refs = bpf_map_lookup_elem(&image_refs, &image);
		__u32 parent;

		if (!refs)
			return;
		if (config.exchange && __sync_fetch_and_add(&refs->users, -1) != 1)
			return;
		parent = refs->parent;
		bpf_map_delete_elem(&image_refs, &image);
		if (!config.exchange)
			return;
		image = parent;
	}
}

/*
 * Releases an image that has ended. The loader runs this program (it is never attached) after the
 * last report on the image. Until then, the BPF programs record the blocks that ancestors of the
 * image free, because the image may have inherited copies of these blocks.
 */
SEC("raw_tp/image_release")
int image_release(struct bpf_raw_tracepoint_args *ctx)
{
	if (children_inherit())
		image_refs__leave(ctx->args[0]);
	return 0;
}

/*
 * True if an ancestor may have, or have had, a block at the address, or if there are more than
 * ANCESTORS_MAX ancestors.
 */
static __always_inline bool ancestors__may_hold(__u32 image, __u64 addr)
{
	struct memleak_block_key key = {.addr = addr};

	for (int i = 0; i < ANCESTORS_MAX; i++) {
		const struct memleak_image_refs *refs = bpf_map_lookup_elem(&image_refs, &image);

		if (!refs || !refs->parent)
			return false;
		image = refs->parent;
		key.image = image;
		if (block__may_be_held(&key))
			return true;
	}
	return true;
}

#endif
