/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles blocks that are reallocated while the loader reads the blocks for a report: it could
 * otherwise read such a block twice (at its old and its new address) or miss it.
 *
 * The loader reads the recent-block cache bucket by bucket, then the block table. A block counts as
 * read if it was in a bucket that the loader has read or is reading. If a block that was not read
 * is stored in a bucket that the loader has read, the block is handed to the loader.
 *
 * A proof (--prove) uses a picture of the process's memory, taken before the blocks are read. A
 * block that has moved since then is not at its new address in the picture, so it gets the
 * picture's number.
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
 * Returns the number of the current reading if the loader has already read this block, else 0. The
 * block was just taken out of the tables. A bucket that is being read counts as read.
 */
static __always_inline __u32 reading__that_read(const struct memleak_block_key *key,
						const struct memleak_block *block)
{
	__u32 number = reading.number;
	bool is_read = block__reading(block) == number ||
		       (block__hash(key) & config.recent_mask) <= reading.read_cnt;

	return is_read ? number : 0;
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
 * Called before a block that keeps its birth time is stored again, usually at a new address. Gives
 * the block the number of the current reading if the loader has already read the block or its new
 * bucket; in the second case, also hands it to the loader, which would miss it. Otherwise, gives it
 * the number of the picture if it has moved since the picture was taken. Does nothing if children
 * inherit blocks: reallocated blocks then get a new birth time.
 */
static __always_inline void reading__move(const struct thread_state *thread,
					  const struct memleak_block_key *key,
					  struct memleak_block *block)
{
	__u32 number = reading.number, picture = reading.picture;
	bool is_read = thread->read_by == number;

	if (children_inherit())
		return;
	if (!number || (!is_read && (!config.exchange || !reading__has_passed(key)))) {
		if (picture &&
		    (key->addr != thread->addr || block__reading(&thread->old) == picture))
			block__set_reading(block, picture);
		return;
	}
	block__set_reading(block, number);
	if (!is_read)
		reading__hand(key, block, number);
}

#endif
