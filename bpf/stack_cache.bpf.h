/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack cache: stacks that were walked before. A walk is a function of the registers that it
 * begins with and of the words that it reads from the stack: if the same words lie at the same
 * distances from the stack pointer again, it is the same stack, and need not be walked.
 *
 * An entry says where those words are and has a hash of them and of everything else in it. It is
 * written by all CPUs without a lock: a torn entry fits no stack. Knows nothing of how walks are
 * made.
 */
#ifndef BPF_STACK_CACHE_BPF_H
#define BPF_STACK_CACHE_BPF_H

#include "bpf/masks.bpf.h"
#include "bpf/track.bpf.h"

/* A walk that depends on more words, or on words farther out, is not cached. */
#define STACK_CACHE_WORDS_MAX 256
#define STACK_CACHE_STACK_WORDS 1024

/* Set in a place whose word is an address in the stack: its distance counts, not its value. */
#define STACK_CACHE_RELATIVE 0x8000U

/* Stands in an entry's end if no stack is to fit it. */
#define STACK_CACHE_DISTRUSTED 0xffff

/* Which words of a stack its walk depends on. */
struct stack_words {
	__u64 hash;   /* of their values, in the order of the places */
	__u64 prefix; /* what hash was after the first words */
	__u32 cnt;
	__u32 end;         /* to see them, so many words from the stack pointer up must be there */
	__u64 not_fitting; /* not 0: there were words that cannot be kept */
	__u16 places[STACK_CACHE_WORDS_MAX]; /* words from the stack pointer; the last ones repeat
					      */
};

struct stack_cache_head {
	__u64 key;
	__u64 check;  /* stack_cache__check() of the rest */
	__u64 prefix; /* hash of the first words: paths to one place differ in them, if at all */
	__u64 stack;  /* the hash of its frames */
	__u32 note;   /* whatever else was found out by the walk */
	__u16 cnt;
	__u16 end;
};

struct cached_stack {
	struct stack_cache_head head;
	__u16 places[STACK_CACHE_WORDS_MAX];
};

#define STACK_CACHE_PREFIX 4

/*
 * So many entries may have one key. Loops over them are unrolled: older verifiers reject a loop
 * whose beginning follows a call, which is where compilers put it.
 */
#define STACK_CACHE_WAYS 4
#define STACK_CACHE_BITS 11

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STACK_CACHE_WAYS << STACK_CACHE_BITS);
	__type(key, __u32);
	__type(value, struct cached_stack);
} cached_stack SEC(".maps");

/*
 * One in so many stacks that are recognised is walked all the same: a prime, for paths that take
 * turns.
 */
#define STACK_CACHE_CHECKED 1021

static __always_inline struct cached_stack *stack_cache__find(__u64 key, __u32 way)
{
	__u32 at = (key >> (64 - STACK_CACHE_BITS)) * STACK_CACHE_WAYS + way;

	return bpf_map_lookup_elem(&cached_stack, &at);
}

/*
 * Copies what the entry says besides the places, as it may change at any moment. False: the entry
 * is of no use.
 */
static __always_inline bool stack_cache__read(const struct cached_stack *entry, __u64 key,
					      struct stack_cache_head *ret)
{
	*ret = entry->head;
	barrier();
	return ret->key == key && ret->end < STACK_CACHE_STACK_WORDS;
}

static __always_inline __u64 stack_cache__check(const struct stack_cache_head *head, __u64 hash)
{
	hash = hash_mix(hash, head->key);
	hash = hash_mix(hash, head->stack);
	return hash_mix(hash, (__u64)head->note << 32 | (__u32)head->end << 16 | head->cnt);
}

/* Whether a stack has the words of the entry; start is the address of the first one. */
static __always_inline bool stack_cache__fits(const struct cached_stack *entry,
					      const struct stack_cache_head *head,
					      const __u64 *words, __u64 start)
{
	__u64 hash = 0;

	for (__u32 i = 0; i < STACK_CACHE_WORDS_MAX; i++) {
		__u64 place, relative;

		if (i >= head->cnt)
			break;
		if (i == STACK_CACHE_PREFIX && hash != head->prefix)
			return false;
		place = entry->places[i];
		relative = -(place / STACK_CACHE_RELATIVE);
		hash = hash_mix(hash, words[place % STACK_CACHE_STACK_WORDS] - (start & relative));
	}
	return stack_cache__check(head, hash) == head->check;
}

static __always_inline void stack_words__begin(struct stack_words *words)
{
	words->hash = 0;
	words->prefix = 0;
	words->cnt = 0;
	words->end = 0;
	words->not_fitting = 0;
}

/* The walk depends on a word. Without branches: a program does this many times. */
static __always_inline void stack_words__add(struct stack_words *words, __u64 place, __u64 value)
{
	__u32 cnt = words->cnt;

	words->places[cnt % STACK_CACHE_WORDS_MAX] = place;
	words->hash = hash_mix(words->hash, value);
	words->prefix = cnt < STACK_CACHE_PREFIX ? words->hash : words->prefix;
	words->cnt = cnt + 1;
}

static __always_inline bool stack_cache__is_distrusted(__u64 key)
{
	const struct cached_stack *entry = stack_cache__find(key, 0);

	return entry && entry->head.key == key && entry->head.end == STACK_CACHE_DISTRUSTED;
}

/*
 * Where an entry goes: where it is already, since a stack that is walked as a check is entered
 * again, or to the first free place, or over any entry. Good entries soon come back.
 */
static __always_inline struct cached_stack *stack_cache__replace(__u64 key, __u64 check)
{
	__u32 chosen = bpf_get_prandom_u32() % STACK_CACHE_WAYS;

#pragma unroll
	for (__u32 way = STACK_CACHE_WAYS; way-- > 0;) {
		const struct cached_stack *entry = stack_cache__find(key, way);

		if (entry && (!entry->head.key || entry->head.check == check))
			chosen = way;
	}
	return stack_cache__find(key, chosen);
}

static __always_inline void stack_cache__learn(__u64 key, const struct stack_words *words,
					       __u64 stack, __u32 note)
{
	struct stack_cache_head head = {.key = key, .stack = stack, .note = note};
	struct cached_stack *entry;

	if (words->not_fitting || words->cnt > STACK_CACHE_WORDS_MAX ||
	    stack_cache__is_distrusted(key))
		return;
	head.prefix = words->prefix;
	head.cnt = words->cnt;
	head.end = words->end;
	head.check = stack_cache__check(&head, words->hash);
	entry = stack_cache__replace(key, head.check);
	if (!entry)
		return;
	entry->head = head;
	__builtin_memcpy(entry->places, words->places, sizeof(entry->places));
}

/*
 * An entry was wrong: all entries of this key go, and there is none until this one has been
 * replaced.
 */
static __always_inline void stack_cache__distrust(__u64 key)
{
#pragma unroll
	for (__u32 way = 0; way < STACK_CACHE_WAYS; way++) {
		struct cached_stack *entry = stack_cache__find(key, way);

		if (!entry || (way && entry->head.key != key))
			continue;
		entry->head.key = way ? 0 : key;
		entry->head.cnt = 0;
		entry->head.end = STACK_CACHE_DISTRUSTED;
	}
}

#endif
