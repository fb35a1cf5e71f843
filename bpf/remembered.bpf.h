/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that were walked before. A walk is a function of the registers that it begins with and of
 * the words that it reads from the stack: if the same words lie at the same distances from the
 * stack pointer again, it is the same stack, and need not be walked.
 *
 * An entry says where those words are and has a hash of them and of everything else in it. It is
 * written by all CPUs without a lock: a torn entry fits no stack. Knows nothing of how walks are
 * made.
 */
#ifndef REMEMBERED_BPF_H
#define REMEMBERED_BPF_H

#include "bpf/masks.bpf.h"
#include "bpf/track.bpf.h"

/* More words or words farther out are not remembered. */
#define REMEMBERED_WORDS_MAX 256
#define REMEMBERED_STACK_WORDS 1024

/* In a place: the word is an address in the stack, and told by its distance. */
#define REMEMBERED_RELATIVE 0x8000U

/* In an entry's end: no stack fits. */
#define REMEMBERED_DISTRUSTED 0xffff

/* Which words of a stack its walk depends on. */
struct stack_words {
	__u64 hash;   /* of their values, in the order of the places */
	__u64 prefix; /* what hash was after the first ones */
	__u32 cnt;
	__u32 end;         /* how many words from the stack pointer up there must be to see them */
	__u64 not_fitting; /* not 0: there were others */
	__u16 places[REMEMBERED_WORDS_MAX]; /* words from the stack pointer; they repeat */
};

struct remembered_head {
	__u64 key;
	__u64 check;  /* remembered__check() of the rest */
	__u64 prefix; /* hash of the first words: paths to one place differ in them, if at all */
	__u64 stack;  /* the hash of its frames */
	__u32 note;   /* whatever else was found out by the walk */
	__u16 cnt;
	__u16 end;
};

struct remembered {
	struct remembered_head head;
	__u16 places[REMEMBERED_WORDS_MAX];
};

#define REMEMBERED_PREFIX 4

/*
 * So many entries may have one key. Loops over them are unrolled: older verifiers do not take one
 * whose beginning follows a call, and compilers put it there.
 */
#define REMEMBERED_WAYS 4
#define REMEMBERED_BITS 11

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, REMEMBERED_WAYS << REMEMBERED_BITS);
	__type(key, __u32);
	__type(value, struct remembered);
} remembered SEC(".maps");

/* One in so many that are recalled is walked all the same: a prime, for paths that take turns. */
#define REMEMBERED_CHECKED 1021

static __always_inline struct remembered *remembered__find(__u64 key, __u32 way)
{
	__u32 at = (key >> (64 - REMEMBERED_BITS)) * REMEMBERED_WAYS + way;

	return bpf_map_lookup_elem(&remembered, &at);
}

/* Copies what the entry says besides the places: it may change at any moment. False: of no use. */
static __always_inline bool remembered__read(const struct remembered *entry, __u64 key,
					     struct remembered_head *ret)
{
	*ret = entry->head;
	barrier();
	return ret->key == key && ret->end < REMEMBERED_STACK_WORDS;
}

static __always_inline __u64 remembered__check(const struct remembered_head *head, __u64 hash)
{
	hash = hash_mix(hash, head->key);
	hash = hash_mix(hash, head->stack);
	return hash_mix(hash, (__u64)head->note << 32 | (__u32)head->end << 16 | head->cnt);
}

/* Whether a stack has the words of the entry; start is the address of the first one. */
static __always_inline bool remembered__fits(const struct remembered *entry,
					     const struct remembered_head *head, const __u64 *words,
					     __u64 start)
{
	__u64 hash = 0;

	for (__u32 i = 0; i < REMEMBERED_WORDS_MAX; i++) {
		__u64 place, relative;

		if (i >= head->cnt)
			break;
		if (i == REMEMBERED_PREFIX && hash != head->prefix)
			return false;
		place = entry->places[i];
		relative = -(place / REMEMBERED_RELATIVE);
		hash = hash_mix(hash, words[place % REMEMBERED_STACK_WORDS] - (start & relative));
	}
	return remembered__check(head, hash) == head->check;
}

static __always_inline void stack_words__begin(struct stack_words *words)
{
	words->hash = 0;
	words->prefix = 0;
	words->cnt = 0;
	words->end = 0;
	words->not_fitting = 0;
}

/* The walk depends on a word. Without branches: this is done many times in a program. */
static __always_inline void stack_words__add(struct stack_words *words, __u64 place, __u64 value)
{
	__u32 cnt = words->cnt;

	words->places[cnt % REMEMBERED_WORDS_MAX] = place;
	words->hash = hash_mix(words->hash, value);
	words->prefix = cnt < REMEMBERED_PREFIX ? words->hash : words->prefix;
	words->cnt = cnt + 1;
}

static __always_inline bool remembered__is_distrusted(__u64 key)
{
	const struct remembered *entry = remembered__find(key, 0);

	return entry && entry->head.key == key && entry->head.end == REMEMBERED_DISTRUSTED;
}

/*
 * Where an entry goes: where it is already, since some that are recalled are learnt again, or to
 * the first free place, or over any of them. Good ones are soon learnt again.
 */
static __always_inline struct remembered *remembered__replace(__u64 key, __u64 check)
{
	__u32 chosen = bpf_get_prandom_u32() % REMEMBERED_WAYS;

#pragma unroll
	for (__u32 way = REMEMBERED_WAYS; way-- > 0;) {
		const struct remembered *entry = remembered__find(key, way);

		if (entry && (!entry->head.key || entry->head.check == check))
			chosen = way;
	}
	return remembered__find(key, chosen);
}

static __always_inline void remembered__learn(__u64 key, const struct stack_words *words,
					      __u64 stack, __u32 note)
{
	struct remembered_head head = {.key = key, .stack = stack, .note = note};
	struct remembered *entry;

	if (words->not_fitting || words->cnt > REMEMBERED_WORDS_MAX ||
	    remembered__is_distrusted(key))
		return;
	head.prefix = words->prefix;
	head.cnt = words->cnt;
	head.end = words->end;
	head.check = remembered__check(&head, words->hash);
	entry = remembered__replace(key, head.check);
	if (!entry)
		return;
	entry->head = head;
	__builtin_memcpy(entry->places, words->places, sizeof(entry->places));
}

/* An entry was wrong: all of this key go, and none is learnt until this one has been replaced. */
static __always_inline void remembered__distrust(__u64 key)
{
#pragma unroll
	for (__u32 way = 0; way < REMEMBERED_WAYS; way++) {
		struct remembered *entry = remembered__find(key, way);

		if (!entry || (way && entry->head.key != key))
			continue;
		entry->head.key = way ? 0 : key;
		entry->head.cnt = 0;
		entry->head.end = REMEMBERED_DISTRUSTED;
	}
}

#endif
