/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognises user stacks by the words that their walk depended on. Return addresses are compared by
 * value. Pointers into the stack (a frame pointer that was followed, a saved stack pointer) are
 * compared by their distance from the stack pointer. No other words influence a walk; saved frame
 * pointers that were not followed are not compared.
 *
 * If the mappings, the first return address and these words are equal, a walk takes the same steps
 * and finds the same frames, so stale return addresses on the stack do no harm. A wrong match can
 * only result from a bug or from a collision of 64-bit hashes. As a check, a few recognised stacks
 * are walked anyway.
 *
 * These stacks are not cached: cut stacks; stacks with a signal frame, with a return address
 * replaced by a return probe, or with code in no known mapping; and stacks walked while libraries
 * were being unloaded.
 */
#ifndef BPF_USER_PROBES_STACK_CACHE_BPF_H
#define BPF_USER_PROBES_STACK_CACHE_BPF_H

#include "bpf/user_probes/thread.bpf.h"

/* Maximum return addresses in a cache key, and maximum stack words searched for them. */
#define KEY_FRAMES 4
#define KEY_WORDS 128

/*
 * A cache key contains the stack pointer modulo this number, not the whole stack pointer: otherwise
 * each thread would need its own entries for the same call.
 */
#define STACK_PLACES (1ULL << 16)

/*
 * Copies the first `end` words of the stack into the window, to compare a cache entry with them.
 * False if unreadable.
 */
static __always_inline bool walk__see(struct walk *walk, __u32 end)
{
	if (walk->window_bytes >= end * 8)
		return true;
	walk->window_bytes = 0;
	if (bpf_probe_read_user(walk->window, end % STACK_CACHE_STACK_WORDS * 8,
				(void *)walk->origin))
		return false;
	walk->window_start = walk->origin;
	walk->window_bytes = end * 8;
	walk->window[FP_REGISTER_PLACE] = walk->regs.fp;
	return true;
}

/*
 * Reads the return address of the call together with the words that cache entries compare: a second
 * read would double the cost.
 */
static __always_inline __u64 walk__see_call(struct walk *walk, struct pt_regs *ctx)
{
	__u64 bytes = sizeof(walk->caller) + KEY_WORDS * sizeof(walk->window[0]);

	_Static_assert(__builtin_offsetof(struct walk, caller) + sizeof(__u64) ==
			       __builtin_offsetof(struct walk, window),
		       "the return address lies below the window");
	if (!ARCH_SLOT_HOLDS_RETURN_ADDRESS || !config.stack_cache ||
	    bpf_probe_read_user((void *)walk->window - sizeof(walk->caller), bytes,
				(void *)arch_entry_slot(ctx)))
		return arch_return_address(ctx);
	walk->window_start = walk->origin;
	walk->window_bytes = KEY_WORDS * sizeof(walk->window[0]);
	walk->window[FP_REGISTER_PLACE] = walk->regs.fp;
	return walk->caller;
}

/*
 * Returns the key of a stack's cache entries. The stack pointer and up to KEY_FRAMES return
 * addresses distinguish the call paths that lead to one caller. They are found by cached unwind
 * rules; wrong ones do no harm: an entry is used only if all its words match.
 */
static __always_inline __u64 walk__key(struct walk *walk)
{
	__u64 mappings = walk->mappings, pc = walk->regs.pc, place = 0;
	__u64 key = hash_mix(mappings ^ walk->image, walk->origin % STACK_PLACES);

	for (__u32 i = 0; i < KEY_FRAMES; i++) {
		union {
			__u64 bits;
			struct unwind_rule rule;
		} found;
		__u64 wanted = (pc - 1) ^ mappings;
		__u32 at = (wanted * 0x9e3779b97f4a7c15ULL) >> (64 - RULE_CACHE_BITS);

		key = hash_mix(key, pc);
		if (!rule_cache__get(walk, at, wanted, &found.bits) ||
		    found.rule.cfa != UNWIND_CFA_SP)
			break;
		place += (__u32)found.rule.cfa_off / 8;
		if (place > KEY_WORDS)
			break;
		pc = walk->window[(place - 1) % STACK_CACHE_STACK_WORDS];
	}
	return key;
}

/*
 * Compares the stack with one of the cache entries of its key. If it fits, sets walk->stack.hash
 * and returns 1. Not static, so that the verifier checks the loop over the words once, and not for
 * each entry.
 */
__noinline int walk_compare(__u32 entry, __u32 way)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);
	const struct cached_stack *cached;
	struct stack_cache_head head;

	if (!walk)
		return 0;
	cached = stack_cache__find(walk->key, way);
	if (!cached || !stack_cache__read(cached, walk->key, &head) || !walk__see(walk, head.end) ||
	    !stack_cache__fits(cached, &head, walk->window, walk->origin))
		return 0;
	walk->stack.hash = head.stack;
	walk->note = head.note;
	return 1;
}

/* Finds the stack in the cache and sets walk->stack.hash. The frames are not filled in. */
static __always_inline bool walk__look_up(struct walk *walk, __u32 entry)
{
	walk->key = 0;
	if (!config.stack_cache || !walk__is_certain(walk) || walk->origin % 8 ||
	    !walk__see(walk, KEY_WORDS))
		return false;
	walk->key = walk__key(walk);
#pragma unroll
	for (__u32 way = 0; way < STACK_CACHE_WAYS; way++) {
		const struct cached_stack *cached = stack_cache__find(walk->key, way);

		if (cached && cached->head.key == walk->key && walk_compare(entry, way))
			return true;
	}
	return false;
}

/*
 * Adds the stack to the cache. If it was walked as a check, first compares it with the cache.
 * `note` is 1 + the kind of block for which the stack has a site; 0 if no site is known. If the
 * process runs scripts, the native frames alone do not determine a site, so the number of native
 * frames is stored instead of `note`.
 */
static __always_inline void walk__cache(struct walk *walk, __u32 note)
{
	bool fits = walk__is_certain(walk) && !walk->unknown && walk->end &&
		    walk->end < UNWIND_END_NO_CODE;

	if (walk->expected) {
		count(MEMLEAK_STAT_CHECKED, 1);
		if (walk->expected != walk->native_hash) {
			count(MEMLEAK_STAT_DISAGREED, 1);
			stack_cache__distrust(walk->key);
		}
	}
	if (fits)
		stack_cache__learn(walk->key, &walk->depends, walk->native_hash,
				   walk->interpreter ? walk->frame_cnt : note);
}

/* Drops the stack's hash and frames, before a walk. */
static __always_inline void walk__forget(struct walk *walk)
{
	walk->stack.hash = 0;
	walk->frame_cnt = 0;
}

/*
 * Finds the site of a recognised stack. False if the stack must be walked, to create the site or to
 * check the cache.
 */
static __always_inline bool walk__find_site(struct walk *walk, struct thread_state *thread)
{
	__u64 id = site__id(walk->stack.hash, thread->image, thread->kind);

	if (thread->hits++ % STACK_CACHE_CHECKED == STACK_CACHE_CHECKED - 1)
		walk->expected = walk->native_hash;
	else if ((!walk->interpreter && walk->note == thread->kind + 1) ||
		 bpf_map_lookup_elem(&sites, &id)) {
		thread->site = id;
		count(MEMLEAK_STAT_CACHED, 1);
		return true;
	}
	walk__forget(walk);
	return false;
}

#endif
