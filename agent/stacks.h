/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the stack number of an allocator call. Remembers stacks by return address and stack
 * pointer; verifies a remembered stack by comparing each word on which its walk depended.
 */
#ifndef AGENT_STACKS_H
#define AGENT_STACKS_H

#include "agent/agent.h"
#include "agent/scripts.h"
#include "agent/walk.h"

#define MEMO_SLOTS 2048U
#define ALIKE_SETS 2048U
#define ALIKE_WAYS 4U
#define MEMO_BYTES (1U << 20)

/*
 * Maximum walks in progress per thread: a signal handler may walk the stack during a walk, and may
 * itself be interrupted.
 */
#define WALKS 3U

/*
 * Set in memo.generation while the memo is in use, together with the stack pointer of the caller
 */
#define MEMO_BUSY (1ULL << 63)
#define MEMO_NEW 1 /* memo.generation of a new memo, lower than any stacks_generation */

/*
 * Number of stack words compared in one round. The last word of a remembered stack is repeated to
 * fill the last round.
 */
#define MEMO_ROUND 4U

struct memo_words {
	uint64_t values[MEMO_ROUND];
	int32_t offsets[MEMO_ROUND]; /* offset of each word from the stack pointer */
};

/* A remembered stack. All its words are on the thread's own, readable stack. */
struct memo_entry {
	uint64_t fp;
	/* mask for the comparison of fp: 0 if the stack does not depend on the frame pointer */
	uint64_t fp_mask;
	uint32_t number;
	uint32_t round_cnt;
	struct memo_words rounds[];
};

#define MEMO_ROUNDS_MAX ((WALK_WORDS_MAX + MEMO_ROUND - 1) / MEMO_ROUND)

struct memo_slot {
	uint64_t ra;
	uint64_t sp;
	/* offset in memo.ring of the latest stack with this ra and sp, 0 if there is none */
	uint64_t entry;
	uint64_t has_several; /* true if several different stacks had this ra and sp */
};

/*
 * A set of the set-associative cache of remembered stacks. Different stacks in a set may have the
 * same return address and stack pointer.
 */
struct alike_set {
	uint64_t hashes[ALIKE_WAYS];
	uint64_t entries[ALIKE_WAYS];
} __attribute__((aligned(64)));

/* The remembered stacks of a thread. */
struct memo {
	/*
	 * value of stacks_generation when the memo was last used; has MEMO_BUSY while the memo is
	 * in use, perhaps by code that a signal interrupted
	 */
	uint64_t generation;
	uint32_t walk_cnt;        /* number of walks in progress */
	uint64_t walk_sps[WALKS]; /* stack pointers of the callers whose walks are in progress */
	/* total bytes written to `ring`, which has the last MEMO_BYTES of them */
	uint64_t written;
	struct memo_slot slots[MEMO_SLOTS];
	struct alike_set alike[ALIKE_SETS];
	uint8_t ring[MEMO_BYTES + sizeof(struct memo_entry) +
		     MEMO_ROUNDS_MAX * sizeof(struct memo_words)] __attribute__((aligned(64)));
	struct known_stack known;
	struct readable readable; /* argument `readable` of scripts_find() */
	/* Walks in progress. They are too large to be local variables on a small stack. */
	struct walked_stack walks[WALKS];
	struct script_walk script_walks[WALKS];
};

/* Current generation; the content of memos of other generations is invalid. */
extern uint64_t stacks_generation __attribute__((visibility("hidden")));

/*
 * Returns the stack number of a caller for which stacks_recall() has returned 0; ACCOUNT_NO_STACK
 * if there is no room. The caller is passed in parts, as a struct would be copied through memory.
 */
uint32_t stacks_find_slowly(struct account *account, uint64_t ra, uint64_t sp, uint64_t fp);

/*
 * Adds the script frames of the calling thread to the stack `number`. sp: the caller's stack
 * pointer. is_recalled: stacks_recall() has found the stack, so it has no signal frames: stacks
 * with signal frames are not remembered.
 */
uint32_t stacks_add_scripts(struct account *account, uint32_t number, uint64_t sp,
			    bool is_recalled);

/* Returns a memo for a thread, perhaps one that an ended thread used; NULL if out of memory. */
struct memo *memo_new(void);
void memo_free(struct memo *memo);

/* Discards all remembered stacks and all cached code, as some code may have been unmapped. */
void stacks_forget(void);

static inline struct memo_slot *stacks_slot(struct memo *memo, const struct caller *caller)
{
	return &memo->slots[(caller->ra + caller->sp * 8) * 0x9e3779b97f4a7c15ULL >> 53];
}

/* True if the entry exists and has not been overwritten. */
static ALWAYS_INLINE bool memo_has(const struct memo *memo, uint64_t entry)
{
	return memo->written - entry < MEMO_BYTES;
}

static inline const struct memo_entry *memo_at(const struct memo *memo, uint64_t entry)
{
	return (const struct memo_entry *)(memo->ring + entry % MEMO_BYTES);
}

static ALWAYS_INLINE uint64_t memo_word(uint64_t sp, const struct memo_words *words, uint32_t i)
{
	return *(const uint64_t *)(sp + (uint64_t)(int64_t)words->offsets[i]);
}

static ALWAYS_INLINE bool memo_matches(const struct memo_entry *entry, const struct caller *caller)
{
	if ((entry->fp ^ caller->fp) & entry->fp_mask)
		return false;
	for (uint32_t i = 0; i < entry->round_cnt; i++) {
#pragma GCC unroll 4
		for (uint32_t j = 0; j < MEMO_ROUND; j++)
			if (memo_word(caller->sp, &entry->rounds[i], j) !=
			    entry->rounds[i].values[j])
				return false;
	}
	return true;
}

/*
 * Returns the number of the caller's native stack if it was seen most recently with this return
 * address and stack pointer; else 0.
 */
static ALWAYS_INLINE uint32_t stacks_recall(const struct caller *caller)
{
	struct memo *memo = self.memo;
	const struct memo_slot *slot;
	uint64_t generation;
	uint32_t number = 0;

	if (unlikely(!memo))
		return 0;
	generation = memo->generation;
	if (unlikely(generation != __atomic_load_n(&stacks_generation, __ATOMIC_RELAXED)))
		return 0;
	memo->generation = MEMO_BUSY | caller->sp;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slot = stacks_slot(memo, caller);
	if (!unlikely((slot->ra ^ caller->ra) | (slot->sp ^ caller->sp) | slot->has_several ||
		      !memo_has(memo, slot->entry)) &&
	    memo_matches(memo_at(memo, slot->entry), caller))
		number = memo_at(memo, slot->entry)->number;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memo->generation = generation;
	return number;
}

/* Returns the number of the caller's stack, with its script frames. */
static ALWAYS_INLINE uint32_t stacks_find(struct account *account, const struct caller *caller)
{
	uint32_t number = stacks_recall(caller);
	bool is_recalled = number;

	if (unlikely(!number))
		number = stacks_find_slowly(account, caller->ra, caller->sp, caller->fp);
	if (unlikely(scripts_known) && number != ACCOUNT_NO_STACK)
		number = stacks_add_scripts(account, number, caller->sp, is_recalled);
	return number;
}

#endif
