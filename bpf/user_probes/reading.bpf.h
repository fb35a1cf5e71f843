/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles blocks that are reallocated while the loader reads the blocks for a report: it could
 * otherwise read such a block twice (at its old and its new address) or miss it.
 *
 * The loader reads the recent-block cache bucket by bucket, then the block tables in an order that
 * is not known here. So a block counts as unread only if the loader has not come to its old bucket
 * of the cache yet: blocks in the tables are read later still. An unread block that is stored in a
 * bucket that was not read either is left to the loader. Any other block gets the number of the
 * reading, which the loader skips, and is handed to the loader. For this, the loader must know the
 * old address of the block unless it is unread: it takes the block if it has not read this address.
 *
 * A block that moves to another site gets a new birth time, so the report leaves out the new block.
 * Then the old block is handed over instead, as it was before it moved.
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
 * Returns the number of the current reading if the loader may have read this block, else 0. The
 * block was just taken out of the tables. A bucket that is being read counts as read.
 */
static __always_inline __u32 reading__that_read(const struct memleak_block_key *key,
						const struct memleak_block *block)
{
	__u32 number = reading.number;
	bool may_be_read = block__reading(block) == number ||
			   (block__hash(key) & config.recent_mask) <= reading.read_cnt;

	return may_be_read ? number : 0;
}

/* Hands a block to the loader. If the ring is full, the loader finds that the entry is missing. */
static __always_inline void reading__hand(const struct memleak_block_key *key,
					  const struct memleak_block *block, __u64 old_addr,
					  __u32 number)
{
	__u32 at = __sync_fetch_and_add(&reading.handed_cnt, 1);
	struct memleak_handed *handed;

	if (at - reading.taken_cnt >= MEMLEAK_HANDED_MAX)
		return;
	handed = (struct memleak_handed *)&reading.handed[at & (MEMLEAK_HANDED_MAX - 1)];
	handed->key = *key;
	handed->block = *block;
	handed->old_addr = old_addr;
	recent__publish(&handed->number, number);
}

/*
 * Called before a block that keeps its birth time is stored again, usually at a new address. If the
 * loader may have read the block, or has read its new bucket, gives the block the number of the
 * reading and hands it to the loader, unless this was done before. Otherwise, gives it the number
 * of the picture if it has moved since the picture was taken. Does nothing if children inherit
 * blocks: reallocated blocks then get a new birth time.
 */
static __always_inline void reading__move(const struct thread_state *thread,
					  const struct memleak_block_key *key,
					  struct memleak_block *block)
{
	__u32 number = reading.number, picture = reading.picture;
	bool may_be_read = thread->read_by == number;

	if (children_inherit())
		return;
	if (!number || block->birth_ns > reading.until_ns ||
	    (!may_be_read && (!config.exchange || !reading__has_passed(key)))) {
		if (picture &&
		    (key->addr != thread->addr || block__reading(&thread->old) == picture))
			block__set_reading(block, picture);
		return;
	}
	block__set_reading(block, number);
	if (block__reading(&thread->old) != number)
		reading__hand(key, block, may_be_read ? thread->addr : 0, number);
}

/*
 * Called during a reading when the old block of a realloc is replaced by a block with a new birth
 * time, which the reading does not report. Hands the old block to the loader, unless this was done
 * before: otherwise, a block that the loader has not read yet would be missing from the report.
 */
static __always_inline void reading__replace(const struct thread_state *thread, __u32 number)
{
	const struct memleak_block_key key = {.addr = thread->addr, .image = thread->image};

	if (thread->old.birth_ns > reading.until_ns || block__reading(&thread->old) == number)
		return;
	reading__hand(&key, &thread->old, thread->read_by == number ? thread->addr : 0, number);
}

#endif
