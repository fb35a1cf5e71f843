/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that are reallocated while the loader reads the blocks for a report: each is to be met
 * once, at its old address or at the new one.
 *
 * The loader reads the recent-block cache bucket by bucket, then the table. What was in a bucket
 * that has been read, it has met; a block that is stored in such a bucket, and that it has not met
 * before, is handed to it.
 */
#ifndef BPF_USER_PROBES_READING_BPF_H
#define BPF_USER_PROBES_READING_BPF_H

#include "bpf/reading.h"
#include "bpf/user_probes/thread.bpf.h"

volatile struct memleak_reading reading;

static __always_inline bool reading__has_passed(const struct memleak_block_key *key)
{
	return (block__hash(key) & config.recent_mask) < reading.read_cnt;
}

/* Of a block that was just taken out. The bucket that is being read counts as read. */
static __always_inline bool reading__has_met(const struct memleak_block_key *key,
					     const struct memleak_block *block)
{
	__u32 number = reading.number;

	return number && (block__reading(block) == number ||
			  (block__hash(key) & config.recent_mask) <= reading.read_cnt);
}

static __always_inline void reading__hand(const struct memleak_block_key *key,
					  const struct memleak_block *block)
{
	volatile struct memleak_handed *handed;
	__u32 at = config.exchange ? __sync_fetch_and_add(&reading.handed_cnt, 1)
				   : reading.handed_cnt++;

	if (at >= MEMLEAK_HANDED_MAX)
		return;
	handed = &reading.handed[at];
	handed->key.addr = key->addr;
	handed->key.image = key->image;
	handed->key.domain = key->domain;
	handed->block.size = block->size;
	handed->block.birth_ns = block->birth_ns;
	handed->block.site = block->site;
	handed->block.tid = block->tid;
}

/* Before the block, which keeps its birth, is stored. With descendants none does. */
static __always_inline void reading__move(const struct thread_state *thread,
					  const struct memleak_block_key *key,
					  struct memleak_block *block)
{
	__u32 number = reading.number;

	if (!number || children_inherit() || (!thread->old_met && !reading__has_passed(key)))
		return;
	block__set_reading(block, number);
	if (!thread->old_met)
		reading__hand(key, block);
}

#endif
