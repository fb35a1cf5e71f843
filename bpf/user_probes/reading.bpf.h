/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles blocks that are reallocated while the loader reads the blocks for a report. None may be
 * read twice, at its old and its new address, and hardly any may be missed.
 *
 * The loader reads the recent-block cache bucket by bucket, then the table. Blocks in a bucket that
 * was read have been read. A block stored in such a bucket that has not been read is handed to the
 * loader. Blocks taken from the table count as read.
 *
 * A memory picture for a proof is older than the reading: it does not show blocks at addresses they
 * have moved to since.
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
 * Returns the number of the reading that has read a block which was just taken out, or 0. The
 * bucket being read counts as read.
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

/*
 * Called before a moved block is stored, if it keeps its birth time. With descendants no block
 * does.
 */
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
