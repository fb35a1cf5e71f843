/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --follow: records freed blocks, so that the loader can later tell which blocks a forked child
 * has. Parent and child have separate copies of a block, and free them independently.
 */
#ifndef BPF_USER_PROBES_INHERITANCE_BPF_H
#define BPF_USER_PROBES_INHERITANCE_BPF_H

#include "bpf/user_probes/thread.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct memleak_freed_key);
	__type(value, struct memleak_freed);
} freed_blocks SEC(".maps");

/* For each inherited block that an image has freed, the time of the free. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct memleak_block_key);
	__type(value, __u64);
} freed_in_child SEC(".maps");

static __always_inline bool freed__add(const struct memleak_block_key *at,
				       const struct memleak_block *block)
{
	struct memleak_freed_key key = {
		.addr = at->addr,
		.birth_ns = block->birth_ns,
		.image = at->image,
	};
	struct memleak_freed freed = {
		.freed_ns = bpf_ktime_get_ns(),
		.size = block->size,
		.site = block->site,
		.tid = block->tid,
	};

	if (!bpf_map_update_elem(&freed_blocks, &key, &freed, BPF_ANY))
		return true;
	count(MEMLEAK_LOST_INHERITED, 1);
	return false;
}

/*
 * Removes from the block tables a block that the process itself allocated. If descendants have
 * copies, the block stays in the counting filter, by which they find them.
 */
static __always_inline bool thread__take_own(struct thread_state *thread,
					     const struct memleak_block_key *key,
					     struct memleak_block *ret)
{
	__u64 forked_ns;
	bool taken;

	if (!children_inherit())
		return block__take(key, ret);
	forked_ns = thread->forked_ns;
	thread->has_descendants = false;
	if (forked_ns)
		filter__add(key, 1);
	taken = block__take(key, ret);
	if (taken && ret->birth_ns < forked_ns)
		thread->has_descendants = freed__add(key, ret);
	if (forked_ns && !thread->has_descendants)
		filter__add(key, -1);
	return taken;
}

/*
 * Handles the free of a block. If the process itself allocated the block, removes it from the block
 * tables and returns true. Otherwise returns false; records the free if the block may be a copy of
 * an ancestor's.
 */
static __always_inline bool thread__take(struct thread_state *thread,
					 const struct memleak_block_key *key,
					 struct memleak_block *ret)
{
	__u64 now;
	int err;

	if (thread__take_own(thread, key, ret))
		return true;
	if (!children_inherit())
		return false;
	thread->freed_in_child = false;
	if (!thread->descendant || !ancestors__may_hold(key->image, key->addr))
		return false;
	now = bpf_ktime_get_ns();
	err = bpf_map_update_elem(&freed_in_child, key, &now, BPF_NOEXIST);
	thread->freed_in_child = !err;
	if (err && err != -EEXIST)
		count(MEMLEAK_LOST_INHERITED, 1);
	return false;
}

/*
 * Undoes thread__take() if the block was not freed after all. A block that the process itself
 * allocated must be stored again by the caller.
 */
static __always_inline void thread__untake(struct thread_state *thread,
					   const struct memleak_block_key *at)
{
	struct memleak_freed_key key = {.addr = at->addr, .image = at->image};

	if (!children_inherit())
		return;
	key.birth_ns = thread->old.birth_ns;
	if (thread->has_old && thread->has_descendants && !bpf_map_delete_elem(&freed_blocks, &key))
		filter__add(at, -1);
	if (!thread->has_old && thread->freed_in_child)
		bpf_map_delete_elem(&freed_in_child, at);
}

/*
 * Removes a stale block, whose free was missed, at an address that was just allocated. Returns the
 * block's size; 0 if there is none.
 */
static __always_inline __u64 thread__repair(struct thread_state *thread,
					    const struct memleak_block_key *key)
{
	struct memleak_block old;

	if (!thread__take_own(thread, key, &old))
		return 0;
	count(MEMLEAK_STAT_REPLACED, 1);
	return old.size;
}

#endif
