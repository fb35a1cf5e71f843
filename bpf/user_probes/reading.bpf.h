/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that are reallocated while the loader reads the blocks for a report: none is to be met
 * twice, at its old address and at the new one, and hardly any not at all.
 *
 * The loader reads the recent-block cache bucket by bucket, then the table. What was in a bucket
 * that has been read, it has met; a block that is stored in such a bucket, and that it has not met
 * before, is handed to it. What was in the table counts as met.
 *
 * A picture of a process's memory, which a proof is made of, is older than the reading: it does not
 * have the blocks where they are that have moved since.
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

/*
 * The number of the reading that has met a block which was just taken out, or 0. The bucket that is
 * being read counts as read.
 */
static __always_inline __u32 reading__that_met(const struct memleak_block_key *key,
					       const struct memleak_block *block)
{
	__u32 number = reading.number;
	bool met = block__reading(block) == number ||
		   (block__hash(key) & config.recent_mask) <= reading.read_cnt;

	return met ? number : 0;
}

static __always_inline void reading__hand(const struct memleak_block_key *key,
					  const struct memleak_block *block, __u32 number)
{
	__u32 at = __sync_fetch_and_add(&reading.handed_cnt, 1);
	struct memleak_handed *handed;

	if (at >= MEMLEAK_HANDED_MAX)
		return;
	handed = (struct memleak_handed *)&reading.handed[at];
	handed->key = *key;
	handed->block = *block;
	recent__publish(&handed->number, number);
}

/* Before the block, which keeps its birth, is stored. With descendants none does. */
static __always_inline void reading__move(const struct thread_state *thread,
					  const struct memleak_block_key *key,
					  struct memleak_block *block)
{
	__u32 number = reading.number, picture = reading.picture;
	bool met = thread->met_by == number;

	if (children_inherit())
		return;
	if (!number || (!met && (!config.exchange || !reading__has_passed(key)))) {
		if (picture &&
		    (key->addr != thread->addr || block__reading(&thread->old) == picture))
			block__set_reading(block, picture);
		return;
	}
	block__set_reading(block, number);
	if (!met)
		reading__hand(key, block, number);
}

#endif
