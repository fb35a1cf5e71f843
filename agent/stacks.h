/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a call to the number of its stack in the account. A stack that was met is remembered by
 * where the call returns to and how deep the stack is, and proved: each word by which it was found
 * is compared with what it was.
 */
#ifndef AGENT_STACKS_H
#define AGENT_STACKS_H

#include "agent/agent.h"
#include "agent/walk.h"

#define PLACES 2048U
#define ALIKE_SETS 2048U
#define ALIKE_WAYS 4U
#define MET_BYTES (1U << 20)

/* Who walks may be interrupted by a signal, whose handler walks. */
#define WALKS 2U

#define MEMO_TAKEN 0
#define MEMO_NEW 1 /* before all generations */

/* Words of a stack that was met stand together by so many, the last of which may be there again. */
#define MET_ROUND 4U

struct met_words {
	uint64_t values[MET_ROUND];
	int32_t offsets[MET_ROUND]; /* from the stack pointer */
};

/* A stack that was met: on the thread's own one, which can be read. */
struct met {
	uint64_t fp;
	uint64_t fp_mask; /* 0: the frame pointer does not matter */
	uint32_t number;
	uint32_t round_cnt;
	struct met_words rounds[];
};

#define MET_ROUNDS_MAX ((WALK_WORDS_MAX + MET_ROUND - 1) / MET_ROUND)

struct place {
	uint64_t ra;
	uint64_t sp;
	uint64_t met;      /* where it was written; 0: none was */
	uint64_t has_many; /* others than that one were met there */
};

/* Stacks that one place has had, by a hash of their words. */
struct alike_set {
	uint64_t hashes[ALIKE_WAYS];
	uint64_t met[ALIKE_WAYS];
} __attribute__((aligned(64)));

/* What a thread remembers. */
struct memo {
	uint64_t generation; /* MEMO_TAKEN: somebody is at it, whom a signal may have interrupted */
	uint32_t walk_cnt;   /* so many of the walks are going on */
	uint64_t written;    /* so many bytes of what was met, the last ones of which are there */
	struct place places[PLACES];
	struct alike_set alike[ALIKE_SETS];
	uint8_t met[MET_BYTES + sizeof(struct met) + MET_ROUNDS_MAX * sizeof(struct met_words)]
		__attribute__((aligned(64)));
	struct known_stack known;
	struct walk walks[WALKS]; /* too much for small stacks */
};

/* What memos of another one have is void. */
extern uint64_t stacks_generation __attribute__((visibility("hidden")));

/*
 * The number of a stack that is not the last one of its place; ACCOUNT_NO_STACK: there was no room.
 * The caller in pieces: a struct would be copied through memory.
 */
uint32_t stacks_find_slowly(struct account *account, uint64_t ra, uint64_t sp, uint64_t fp);

/* For a thread, perhaps of one that has ended; NULL: there is no memory. */
struct memo *memo_new(void);
void memo_free(struct memo *memo);

/* All that is remembered of code is void: some of it may be gone. */
void stacks_forget(void);

static inline struct place *stacks_place(struct memo *memo, const struct caller *caller)
{
	return &memo->places[(caller->ra + caller->sp * 8) * 0x9e3779b97f4a7c15ULL >> 53];
}

/* False: others have been written over it, or there was none. */
static ALWAYS_INLINE bool met_is_there(const struct memo *memo, uint64_t met)
{
	return memo->written - met < MET_BYTES;
}

static inline const struct met *met_at(const struct memo *memo, uint64_t met)
{
	return (const struct met *)(memo->met + met % MET_BYTES);
}

static ALWAYS_INLINE uint64_t met_word(uint64_t sp, const struct met_words *words, uint32_t i)
{
	return *(const uint64_t *)(sp + (uint64_t)(int64_t)words->offsets[i]);
}

static ALWAYS_INLINE bool met_is_proved(const struct met *met, const struct caller *caller)
{
	if ((met->fp ^ caller->fp) & met->fp_mask)
		return false;
	for (uint32_t i = 0; i < met->round_cnt; i++) {
#pragma GCC unroll 4
		for (uint32_t j = 0; j < MET_ROUND; j++)
			if (met_word(caller->sp, &met->rounds[i], j) != met->rounds[i].values[j])
				return false;
	}
	return true;
}

static ALWAYS_INLINE uint32_t stacks_find(struct account *account, const struct caller *caller)
{
	struct memo *memo = self.memo;
	const struct place *place;
	uint64_t generation;
	uint32_t number = 0;

	if (unlikely(!memo))
		return stacks_find_slowly(account, caller->ra, caller->sp, caller->fp);
	generation = memo->generation;
	if (unlikely(generation != __atomic_load_n(&stacks_generation, __ATOMIC_RELAXED)))
		return stacks_find_slowly(account, caller->ra, caller->sp, caller->fp);
	memo->generation = MEMO_TAKEN;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	place = stacks_place(memo, caller);
	if (!unlikely((place->ra ^ caller->ra) | (place->sp ^ caller->sp) | place->has_many ||
		      !met_is_there(memo, place->met)) &&
	    met_is_proved(met_at(memo, place->met), caller))
		number = met_at(memo, place->met)->number;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memo->generation = generation;
	return unlikely(!number) ? stacks_find_slowly(account, caller->ra, caller->sp, caller->fp)
				 : number;
}

#endif
