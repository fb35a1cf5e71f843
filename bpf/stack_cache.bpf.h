/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack cache: stacks that were walked before. A walk depends only on its initial registers and
 * the words that it reads from the stack. If the same words are at the same distances from the
 * stack pointer, the stack is the same and is not walked again.
 *
 * An entry contains the places of these words, and a hash of the words and of the entry's other
 * fields. Entries are written by all CPUs without locks; a torn entry matches no stack. The walks
 * themselves are not part of this file.
 */
#ifndef BPF_STACK_CACHE_BPF_H
#define BPF_STACK_CACHE_BPF_H

#include "bpf/masks.bpf.h"
#include "bpf/track.bpf.h"

/*
 * STACK_CACHE_WORDS_MAX is the maximum number of words that a cached walk depends on.
 * STACK_CACHE_STACK_WORDS limits the distance of such a word from the stack pointer, in words.
 */
#define STACK_CACHE_WORDS_MAX 256
#define STACK_CACHE_STACK_WORDS 1024

/*
 * Flag in the place of a word that points into the stack. Such a word is compared by its distance
 * from the stack pointer, so that equal stacks at different addresses match.
 */
#define STACK_CACHE_RELATIVE 0x8000U

/* Value of the field `end` in an entry that matches no stack. */
#define STACK_CACHE_DISTRUSTED 0xffff

/* The words of a stack that its walk depends on. */
struct stack_words {
	__u64 hash;   /* hash of the words, in the order of `places` */
	__u64 prefix; /* hash of the first STACK_CACHE_PREFIX words */
	__u32 cnt;
	__u32 end;         /* number of words, from the stack pointer up, that must be readable */
	__u64 not_fitting; /* nonzero if the walk cannot be cached */
	__u16 places[STACK_CACHE_WORDS_MAX]; /* distances from the stack pointer, in words */
};

struct stack_cache_head {
	__u64 key;
	__u64 check;  /* stack_cache__check() of the entry */
	__u64 prefix; /* hash of the first words, in which different call paths usually differ */
	__u64 stack;  /* hash of the stack's frames */
	__u32 note;   /* given by the caller of stack_cache__learn() */
	__u16 cnt;
	__u16 end;
};

struct cached_stack {
	struct stack_cache_head head;
	__u16 places[STACK_CACHE_WORDS_MAX];
};

#define STACK_CACHE_PREFIX 4

/*
 * Number of entries per key. Loops over these entries are unrolled: otherwise compilers place the
 * start of the loop right after a function call, which older verifiers reject.
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
 * One in this number of recognised stacks is walked anyway, as a check. The number is prime, so
 * that each stack is checked at some time, even if the stacks recur in a fixed order.
 */
#define STACK_CACHE_CHECKED 1021

static __always_inline struct cached_stack *stack_cache__find(__u64 key, __u32 way)
{
	__u32 at = (key >> (64 - STACK_CACHE_BITS)) * STACK_CACHE_WAYS + way;

	return bpf_map_lookup_elem(&cached_stack, &at);
}

/*
 * Copies the entry's head, which another CPU may change at any time. Returns false if the entry
 * cannot match.
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

/* True if the stack at `start`, copied to `words`, has the words that the entry compares. */
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

/*
 * Adds a word that the walk depends on. Branch-free, since programs contain many inlined copies of
 * this function.
 */
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
 * Chooses an entry to write: the first that is free or already contains this stack (which was then
 * walked only as a check), or else a random entry. If a useful entry is overwritten, it is soon
 * added again.
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
 * Removes all entries of a key after one of them was wrong. The first entry stays as a marker:
 * until the marker is overwritten, no entries with this key are added.
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
