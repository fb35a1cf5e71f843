// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remembers a thread's stacks by return address and stack pointer; stacks that agree in both are
 * distinguished by a hash of their words. Walks an unknown stack, from its innermost frame up to
 * the frames that it shares with the last stack walked.
 */
#include "agent/stacks.h"

#include "agent/system.h"

uint64_t stacks_generation = MEMO_NEW + 1;

#define WEIGHTS 1024U
static uint64_t weights[WEIGHTS]; /* random odd numbers */

static __attribute__((constructor)) void fill_weights(void)
{
	uint64_t hash = 1;

	for (uint32_t i = 0; i < WEIGHTS; i++) {
		hash = mix(hash + i, 0xff51afd7ed558ccdULL);
		weights[i] = hash | 1;
	}
}

/*
 * Hashes words of the caller's stack, at the offsets that the remembered stack like has: a weighted
 * sum in independent parts, which the processor can add in parallel.
 */
static inline uint64_t hash_words(const struct met *like, const struct caller *caller)
{
	uint64_t sums[MET_ROUND] = {0};

	for (uint32_t i = 0; i < like->round_cnt; i++) {
		const uint64_t *weight = &weights[i * MET_ROUND % WEIGHTS];

#pragma GCC unroll 4
		for (uint32_t j = 0; j < MET_ROUND; j++)
			sums[j] += met_word(caller->sp, &like->rounds[i], j) * weight[j];
	}
	return mix(caller->ra, caller->sp) + sums[0] + sums[1] + sums[2] + sums[3];
}

static struct alike_set *alike_of(struct memo *memo, uint64_t hash)
{
	return &memo->alike[hash * 0xff51afd7ed558ccdULL >> 53];
}

/* Returns the index of this hash in the set, ALIKE_WAYS if it is not there. */
static uint32_t find_way(const struct memo *memo, const struct alike_set *set, uint64_t hash)
{
	uint32_t found = ALIKE_WAYS;

	for (uint32_t i = 0; i < ALIKE_WAYS; i++)
		if (set->hashes[i] == hash)
			found = i;
	return found < ALIKE_WAYS && met_is_there(memo, set->met[found]) ? found : ALIKE_WAYS;
}

/*
 * Clears a memo. Does not touch an unused memo: it is all zeros, and most of its pages are not
 * allocated.
 */
static void forget(struct memo *memo)
{
	bool is_used = memo->written != 0;

	for (uint32_t i = 0; is_used && i < PLACES; i++)
		memo->places[i].met = 0;
	for (uint32_t i = 0; is_used && i < ALIKE_SETS; i++)
		for (uint32_t j = 0; j < ALIKE_WAYS; j++)
			memo->alike[i].met[j] = 0;
	memo->known.cnt = 0;
	/* Makes offset 0 invalid: it means that there is no entry. */
	memo->written = MET_BYTES;
}

/*
 * Reserves contiguous bytes in the ring; an entry may extend past MET_BYTES, as the array is longer
 * by one entry.
 */
static uint64_t take_met(struct memo *memo, uint64_t bytes)
{
	uint64_t at = memo->written;

	memo->written += bytes;
	if (at % MET_BYTES + bytes >= MET_BYTES)
		memo->written += MET_BYTES - memo->written % MET_BYTES;
	return at;
}

/* Appends the known stack to the ring of remembered stacks, and returns its offset. */
static uint64_t write_met(struct memo *memo, const struct caller *caller, uint32_t number)
{
	const struct known_stack *known = &memo->known;
	const struct known_frame *top = &known->frames[known->cnt - 1];
	uint32_t rounds = (top->word_cnt + MET_ROUND - 1) / MET_ROUND;
	uint64_t at = take_met(memo, sizeof(struct met) + rounds * sizeof(struct met_words));
	struct met *met = (struct met *)(memo->met + at % MET_BYTES);

	met->fp_mask = top->needs_fp ? UINT64_MAX : 0;
	met->fp = caller->fp & met->fp_mask;
	met->number = number;
	met->round_cnt = rounds;
	for (uint32_t i = 0; i < rounds * MET_ROUND; i++) {
		const struct walk_word *word =
			&known->words[i < top->word_cnt ? i : top->word_cnt - 1];

		met->rounds[i / MET_ROUND].values[i % MET_ROUND] = word->value;
		met->rounds[i / MET_ROUND].offsets[i % MET_ROUND] =
			(int32_t)(word->at - caller->sp);
	}
	return at;
}

static void remember(struct memo *memo, struct place *place, const struct caller *caller,
		     uint32_t number)
{
	uint64_t met = write_met(memo, caller, number);
	uint64_t hash = hash_words(met_at(memo, met), caller);
	struct alike_set *set = alike_of(memo, hash);
	uint32_t way = find_way(memo, set, hash);

	place->has_many &= place->ra == caller->ra && place->sp == caller->sp;
	place->ra = caller->ra;
	place->sp = caller->sp;
	place->met = met;
	for (uint32_t i = 0; way == ALIKE_WAYS && i < ALIKE_WAYS; i++)
		if (!met_is_there(memo, set->met[i]))
			way = i;
	/* Replace an entry if the set is full. */
	if (way == ALIKE_WAYS)
		way = (uint32_t)(hash % ALIKE_WAYS);
	set->hashes[way] = hash;
	set->met[way] = met;
}

/*
 * True if the stack can be remembered: its words are on the thread's own stack, which is readable,
 * and within the range of offsets.
 */
static bool can_be_met(const struct known_stack *known)
{
	const struct known_frame *top = known->cnt ? &known->frames[known->cnt - 1] : NULL;

	return top && top->is_own && top->word_cnt && self.high - self.low <= INT32_MAX;
}

static uint32_t learn(struct account *account, struct memo *memo, struct place *place,
		      const struct caller *caller)
{
	struct walk *walk = &memo->walks[0];
	uint32_t number;

	walk_run(account, caller, &memo->known, walk);
	number = walk_keep(account, walk, &memo->known, true);
	if (number && !walk->doubtful && can_be_met(&memo->known))
		remember(memo, place, caller, number);
	return number;
}

/*
 * Looks for a remembered stack with the return address and stack pointer of caller, by hashing the
 * words that the remembered stack like has. Returns the stack's number, 0 if there is none.
 */
static uint32_t find_alike(struct memo *memo, const struct met *like, const struct caller *caller)
{
	uint64_t hash = hash_words(like, caller);
	const struct alike_set *set = alike_of(memo, hash);
	uint32_t way = find_way(memo, set, hash);
	const struct met *met;

	if (way == ALIKE_WAYS)
		return 0;
	met = met_at(memo, set->met[way]);
	return met_is_proved(met, caller) ? met->number : 0;
}

static uint32_t find(struct account *account, struct memo *memo, const struct caller *caller)
{
	struct place *place = stacks_place(memo, caller);
	uint32_t number = 0;

	if (place->ra == caller->ra && place->sp == caller->sp && met_is_there(memo, place->met)) {
		number = find_alike(memo, met_at(memo, place->met), caller);
		place->has_many = true;
	}
	return number ? number : learn(account, memo, place, caller);
}

static uint32_t take_and_find(struct account *account, struct memo *memo,
			      const struct caller *caller)
{
	uint64_t now = __atomic_load_n(&stacks_generation, __ATOMIC_RELAXED);
	bool is_void = memo->generation != now;
	uint32_t number;

	memo->generation = MEMO_TAKEN;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (is_void)
		forget(memo);
	number = find(account, memo, caller);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memo->generation = now;
	return number;
}

/* Walks without remembered stacks, which the code that a signal has interrupted may be changing. */
static uint32_t find_anew(struct account *account, struct walk *walk, const struct caller *caller)
{
	walk_run(account, caller, NULL, walk);
	return walk_keep(account, walk, NULL, false);
}

uint32_t stacks_find_slowly(struct account *account, uint64_t ra, uint64_t sp, uint64_t fp)
{
	const struct caller caller = {ra, sp, fp};
	struct memo *memo;
	uint32_t number = 0;

	if (!self.memo)
		thread_begin_memo();
	memo = self.memo;
	if (memo && memo->walk_cnt < WALKS) {
		struct walk *walk = &memo->walks[memo->walk_cnt++];

		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		number = memo->generation == MEMO_TAKEN ? find_anew(account, walk, &caller)
							: take_and_find(account, memo, &caller);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		memo->walk_cnt--;
	}
	if (number)
		return number;
	lose(account, ACCOUNT_LOST_STACKS);
	return ACCOUNT_NO_STACK;
}

/* Memos that ended threads used, for new threads. */
static struct memo *spare[64];

struct memo *memo_new(void)
{
	struct memo *memo = NULL;

	for (unsigned int i = 0; i < sizeof(spare) / sizeof(spare[0]) && !memo; i++)
		memo = __atomic_exchange_n(&spare[i], NULL, __ATOMIC_ACQ_REL);
	if (!memo)
		memo = system_map(sizeof(*memo));
	if (!memo)
		return NULL;
	memo->walk_cnt = 0;
	memo->generation = MEMO_NEW; /* its content is of another thread's stack */
	return memo;
}

void memo_free(struct memo *memo)
{
	struct memo *none = NULL;

	for (unsigned int i = 0; i < sizeof(spare) / sizeof(spare[0]); i++, none = NULL)
		if (__atomic_compare_exchange_n(&spare[i], &none, memo, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return;
	system_unmap(memo, sizeof(*memo));
}

void stacks_forget(void)
{
	walk_forget();
	__atomic_fetch_add(&stacks_generation, 1, __ATOMIC_RELEASE);
}
