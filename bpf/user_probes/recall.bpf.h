/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User stacks that were walked before, recognised by the words that the walk depended on: return
 * addresses as they are, and pointers into the stack (a frame pointer that a frame was found by, a
 * saved stack pointer) by their distance from it. Nothing else of the stack steers a walk: saved
 * frame pointers that nobody follows are not compared. With the same mappings, the same first
 * return address and the same words, it would take the same steps and find the same frames; a
 * stale return address can deceive neither. So a stack that is taken for another is a fault of
 * this program, or two hashes of 64 bits that are equal; some are walked all the same to see.
 *
 * Stacks that were cut are not remembered, nor those with a signal's frame, with a return address
 * that a return probe had taken, with code that is in no mapping, or walked while libraries are
 * unloaded.
 */
#ifndef USER_RECALL_BPF_H
#define USER_RECALL_BPF_H

#include "bpf/user_probes/thread.bpf.h"

/* Frames that may be part of a key, if they lie in so many words. */
#define KEY_FRAMES 4
#define KEY_WORDS 128

/* Bits of the stack pointer that stay the same if a thread's stack begins elsewhere. */
#define STACK_PLACES (1ULL << 16)

/* The beginning of the stack, as far as the words are that an entry tells of. */
static __always_inline bool walk__see(struct walk *walk, __u32 end)
{
	if (walk->window_bytes >= end * 8)
		return true;
	walk->window_bytes = 0;
	if (bpf_probe_read_user(walk->window, end % REMEMBERED_STACK_WORDS * 8,
				(void *)walk->origin))
		return false;
	walk->window_start = walk->origin;
	walk->window_bytes = end * 8;
	walk->window[FP_REGISTER_PLACE] = walk->regs.fp;
	return true;
}

/*
 * The return address of the call that was just made, and with it what a stack is recognised by:
 * reading the stack twice costs twice as much.
 */
static __always_inline __u64 walk__see_call(struct walk *walk, struct pt_regs *ctx)
{
	__u64 bytes = sizeof(walk->caller) + KEY_WORDS * sizeof(walk->window[0]);

	_Static_assert(__builtin_offsetof(struct walk, caller) + sizeof(__u64) ==
			       __builtin_offsetof(struct walk, window),
		       "the return address lies below the window");
	if (!ARCH_SLOT_HOLDS_RETURN_ADDRESS || !config.recall ||
	    bpf_probe_read_user((void *)walk->window - sizeof(walk->caller), bytes,
				(void *)arch_entry_slot(ctx)))
		return arch_return_address(ctx);
	walk->window_start = walk->origin;
	walk->window_bytes = KEY_WORDS * sizeof(walk->window[0]);
	walk->window[FP_REGISTER_PLACE] = walk->regs.fp;
	return walk->caller;
}

/*
 * Where entries of such a stack are. Its place tells apart many paths to one caller, and so do the
 * next return addresses, found by rules met lately: any guess does, since an entry proves itself.
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
		pc = walk->window[(place - 1) % REMEMBERED_STACK_WORDS];
	}
	return key;
}

/*
 * Whether the stack is one that was walked before: its hash is then walk->stack.hash, its frames
 * are not there.
 */
static __always_inline bool walk__recall(struct walk *walk)
{
	walk->key = 0;
	if (!config.recall || !walk__is_certain(walk) || walk->origin % 8 ||
	    !walk__see(walk, KEY_WORDS))
		return false;
	walk->key = walk__key(walk);
#pragma unroll
	for (__u32 way = 0; way < REMEMBERED_WAYS; way++) {
		const struct remembered *entry = remembered__find(walk->key, way);
		struct remembered_head head;

		if (!entry || !remembered__read(entry, walk->key, &head))
			continue;
		if (!walk__see(walk, head.end))
			continue;
		if (!remembered__fits(entry, &head, walk->window, walk->origin))
			continue;
		walk->stack.hash = head.stack;
		walk->note = head.note;
		return true;
	}
	return false;
}

/* note: of what kind the stack has a site for sure, and one more; 0: of none. */
static __always_inline void walk__remember(struct walk *walk, __u32 note)
{
	bool fits = walk__is_certain(walk) && !walk->unknown && walk->end &&
		    walk->end < UNWIND_END_NO_CODE;

	if (walk->recalled) {
		count(MEMLEAK_STAT_CHECKED, 1);
		if (walk->recalled != walk->stack.hash) {
			count(MEMLEAK_STAT_DISAGREED, 1);
			remembered__distrust(walk->key);
		}
	}
	if (fits)
		remembered__learn(walk->key, &walk->depends, walk->stack.hash, note);
}

/* The site of a stack that was recalled. False: it has to be walked, to make the site or to check.
 */
static __always_inline bool walk__find_site(struct walk *walk, struct thread_state *thread)
{
	__u64 id = site__id(walk->stack.hash, thread->image, thread->kind);

	if (thread->recalled++ % REMEMBERED_CHECKED == REMEMBERED_CHECKED - 1)
		walk->recalled = walk->stack.hash;
	else if (!config.verify_unwind &&
		 (walk->note == thread->kind + 1 || bpf_map_lookup_elem(&sites, &id))) {
		thread->site = id;
		count(MEMLEAK_STAT_RECALLED, 1);
		return true;
	}
	walk->stack.hash = 0;
	return false;
}

#endif
