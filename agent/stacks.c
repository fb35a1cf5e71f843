// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remembers a thread's stacks by return address and stack pointer; stacks that agree in both are
 * distinguished by a hash of words on the stack. If a stack is not remembered, walks it from its
 * innermost frame up to the frames that it shares with the stack that was walked before.
 */
#include "agent/stacks.h"

#include "agent/system.h"

uint64_t stacks_generation = MEMO_NEW + 1;

#define WEIGHTS 1024U
static uint64_t weights[WEIGHTS]; /* factors for hash_words(): random odd numbers */

static __attribute__((constructor)) void fill_weights(void)
{
	uint64_t hash = 1;

	for (uint32_t i = 0; i < WEIGHTS; i++) {
		hash = mix(hash + i, 0xff51afd7ed558ccdULL);
		weights[i] = hash | 1;
	}
}

/*
 * Hashes words of the caller's stack, at the offsets that the remembered stack `like` depends on.
 * The hash is a weighted sum in independent parts, which the processor can add in parallel.
 */
static inline uint64_t hash_words(const struct memo_entry *like, const struct caller *caller)
{
	uint64_t sums[MEMO_ROUND] = {0};

	for (uint32_t i = 0; i < like->round_cnt; i++) {
		const uint64_t *weight = &weights[i * MEMO_ROUND % WEIGHTS];

#pragma GCC unroll 4
		for (uint32_t j = 0; j < MEMO_ROUND; j++)
			sums[j] += memo_word(caller->sp, &like->rounds[i], j) * weight[j];
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
	return found < ALIKE_WAYS && memo_has(memo, set->entries[found]) ? found : ALIKE_WAYS;
}

/*
 * Clears a memo (the remembered stacks of a thread). Does not touch the tables of an unused memo:
 * they are zeros, mostly in unallocated pages.
 */
static void forget(struct memo *memo)
{
	bool is_used = memo->written != 0;

	for (uint32_t i = 0; is_used && i < MEMO_SLOTS; i++)
		memo->slots[i].entry = 0;
	for (uint32_t i = 0; is_used && i < ALIKE_SETS; i++)
		for (uint32_t j = 0; j < ALIKE_WAYS; j++)
			memo->alike[i].entries[j] = 0;
	memo->known.cnt = 0;
	/* Makes memo_has() false for offset 0, which stands for no entry. */
	memo->written = MEMO_BYTES;
}

/*
 * Reserves contiguous bytes in the ring; an entry may extend past MEMO_BYTES, as the array is
 * longer by one entry.
 */
static uint64_t reserve_entry(struct memo *memo, uint64_t bytes)
{
	uint64_t at = memo->written;

	memo->written += bytes;
	if (at % MEMO_BYTES + bytes >= MEMO_BYTES)
		memo->written += MEMO_BYTES - memo->written % MEMO_BYTES;
	return at;
}

/* Appends the known stack, walked last, to the ring of remembered stacks. Returns its offset. */
static uint64_t write_entry(struct memo *memo, const struct caller *caller, uint32_t number)
{
	const struct known_stack *known = &memo->known;
	const struct known_frame *top = &known->frames[known->cnt - 1];
	uint32_t rounds = (top->word_cnt + MEMO_ROUND - 1) / MEMO_ROUND;
	uint64_t at =
		reserve_entry(memo, sizeof(struct memo_entry) + rounds * sizeof(struct memo_words));
	struct memo_entry *entry = (struct memo_entry *)(memo->ring + at % MEMO_BYTES);

	entry->fp_mask = top->needs_fp ? UINT64_MAX : 0;
	entry->fp = caller->fp & entry->fp_mask;
	entry->number = number;
	entry->round_cnt = rounds;
	for (uint32_t i = 0; i < rounds * MEMO_ROUND; i++) {
		const struct walk_word *word =
			&known->words[i < top->word_cnt ? i : top->word_cnt - 1];

		entry->rounds[i / MEMO_ROUND].values[i % MEMO_ROUND] = word->value;
		entry->rounds[i / MEMO_ROUND].offsets[i % MEMO_ROUND] =
			(int32_t)(word->at - caller->sp);
	}
	return at;
}

static void remember(struct memo *memo, struct memo_slot *slot, const struct caller *caller,
		     uint32_t number)
{
	uint64_t entry = write_entry(memo, caller, number);
	uint64_t hash = hash_words(memo_at(memo, entry), caller);
	struct alike_set *set = alike_of(memo, hash);
	uint32_t way = find_way(memo, set, hash);

	slot->has_several &= slot->ra == caller->ra && slot->sp == caller->sp;
	slot->ra = caller->ra;
	slot->sp = caller->sp;
	slot->entry = entry;
	for (uint32_t i = 0; way == ALIKE_WAYS && i < ALIKE_WAYS; i++)
		if (!memo_has(memo, set->entries[i]))
			way = i;
	/* Replace an arbitrary entry. */
	if (way == ALIKE_WAYS)
		way = (uint32_t)(hash % ALIKE_WAYS);
	set->hashes[way] = hash;
	set->entries[way] = entry;
}

/*
 * True if the stack can be remembered: its words are on the thread's own stack, which is readable,
 * and within the range of offsets.
 */
static bool can_be_remembered(const struct known_stack *known)
{
	const struct known_frame *top = known->cnt ? &known->frames[known->cnt - 1] : NULL;

	return top && top->is_own && top->word_cnt && self.high - self.low <= INT32_MAX;
}

static uint32_t learn(struct account *account, struct memo *memo, struct memo_slot *slot,
		      const struct caller *caller)
{
	struct walked_stack *walk = &memo->walks[0];
	uint32_t number;

	walk_run(account, caller, &memo->known, walk);
	number = walk_keep(account, walk, &memo->known, true);
	if (number && !walk->doubtful && can_be_remembered(&memo->known))
		remember(memo, slot, caller, number);
	return number;
}

/*
 * Looks for a remembered stack with the return address and stack pointer of `caller`, by hashing
 * the words at the offsets that the remembered stack `like` depends on. Returns the stack's number,
 * 0 if there is none.
 */
static uint32_t find_alike(struct memo *memo, const struct memo_entry *like,
			   const struct caller *caller)
{
	uint64_t hash = hash_words(like, caller);
	const struct alike_set *set = alike_of(memo, hash);
	uint32_t way = find_way(memo, set, hash);
	const struct memo_entry *entry;

	if (way == ALIKE_WAYS)
		return 0;
	entry = memo_at(memo, set->entries[way]);
	return memo_matches(entry, caller) ? entry->number : 0;
}

static uint32_t find(struct account *account, struct memo *memo, const struct caller *caller)
{
	struct memo_slot *slot = stacks_slot(memo, caller);
	uint32_t number = 0;

	if (slot->ra == caller->ra && slot->sp == caller->sp && memo_has(memo, slot->entry)) {
		number = find_alike(memo, memo_at(memo, slot->entry), caller);
		slot->has_several = true;
	}
	return number ? number : learn(account, memo, slot, caller);
}

static uint32_t take_and_find(struct account *account, struct memo *memo,
			      const struct caller *caller)
{
	uint64_t now = __atomic_load_n(&stacks_generation, __ATOMIC_RELAXED);
	bool is_void = memo->generation != now;
	uint32_t number;

	memo->generation = MEMO_BUSY | caller->sp;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (is_void)
		forget(memo);
	number = find(account, memo, caller);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memo->generation = now;
	return number;
}

/*
 * Walks the stack without the memo, as the caller is in a signal handler that may have interrupted
 * a change of the memo.
 */
static uint32_t find_anew(struct account *account, struct walked_stack *walk,
			  const struct caller *caller)
{
	walk_run(account, caller, NULL, walk);
	return walk_keep(account, walk, NULL, false);
}

/*
 * True if the agent's code for the caller with the stack pointer `before` was left by a jump out of
 * a signal handler: while that code runs, later callers on its stack have lower stack pointers.
 * Compares only positions on the thread's own stack.
 */
static bool is_abandoned(uint64_t before, uint64_t sp)
{
	return before >= self.low && before <= sp && sp < self.high && !system_on_signal_stack();
}

/* Ends walks that were abandoned, with the walks inside them, and an abandoned use of the memo. */
static void drop_abandoned(struct memo *memo, uint64_t sp)
{
	uint32_t i = 0;

	while (i < memo->walk_cnt && !is_abandoned(memo->walk_sps[i], sp))
		i++;
	for (uint32_t j = i; j < memo->walk_cnt; j++)
		memo->walk_sps[j] = 0;
	memo->walk_cnt = i;
	if ((memo->generation & MEMO_BUSY) && is_abandoned(memo->generation & ~MEMO_BUSY, sp))
		memo->generation = MEMO_NEW;
}

/*
 * Begins a walk for a caller with this stack pointer. Returns the walk's index, WALKS if too many
 * are in progress. A signal handler that interrupts this function leaves walk_cnt unchanged.
 */
static uint32_t begin_walk(struct memo *memo, uint64_t sp)
{
	uint32_t i;

	drop_abandoned(memo, sp);
	i = memo->walk_cnt;
	if (i >= WALKS)
		return WALKS;
	memo->walk_cnt = i + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memo->walk_sps[i] = sp;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return i;
}

static void end_walk(struct memo *memo, uint32_t i)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memo->walk_sps[i] = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memo->walk_cnt = i;
}

uint32_t stacks_find_slowly(struct account *account, uint64_t ra, uint64_t sp, uint64_t fp)
{
	const struct caller caller = {ra, sp, fp};
	uint32_t number = 0, i;
	struct memo *memo;

	if (!self.memo)
		thread_begin_memo();
	memo = self.memo;
	i = memo ? begin_walk(memo, sp) : WALKS;
	if (i < WALKS) {
		number = memo->generation & MEMO_BUSY ? find_anew(account, &memo->walks[i], &caller)
						      : take_and_find(account, memo, &caller);
		end_walk(memo, i);
	}
	if (number)
		return number;
	lose(account, ACCOUNT_LOST_STACKS);
	return ACCOUNT_NO_STACK;
}

uint32_t stacks_add_scripts(struct account *account, uint32_t number, uint64_t sp, bool is_recalled)
{
	struct memo *memo = self.memo;
	uint32_t i = begin_walk(memo, sp);

	if (i >= WALKS) {
		lose(account, ACCOUNT_LOST_STACKS);
		return number;
	}
	number = scripts_find(account, number, &memo->script_walks[i],
			      is_recalled ? &memo->readable : NULL);
	end_walk(memo, i);
	return number;
}

/* Memos of threads that have ended, to be reused by new threads. */
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
	for (uint32_t i = 0; i < WALKS; i++)
		memo->walk_sps[i] = 0;
	memo->generation = MEMO_NEW; /* invalidates the content, which is from another thread */
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
	scripts_unmapped();
	__atomic_fetch_add(&stacks_generation, 1, __ATOMIC_RELEASE);
}
