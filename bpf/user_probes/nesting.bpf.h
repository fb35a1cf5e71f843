/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides by a stack walk whether a call is nested in a marked call, if the marks alone cannot
 * tell. The marked calls of a thread are its outermost allocator call and its most recent free().
 */
#ifndef BPF_USER_PROBES_NESTING_BPF_H
#define BPF_USER_PROBES_NESTING_BPF_H

#include "bpf/user_probes/stack.bpf.h"

/* Maximum number of frames walked from the call being entered to a marked call. */
#define NESTED_FRAMES 64

enum nesting {
	NESTING_NONE,
	NESTING_INSIDE,
	NESTING_INTERRUPTED, /* called by a signal handler that interrupted the marked call */
	NESTING_UNSURE,
};

#define NESTED_FRAMES_PER_CALL 8

/*
 * Walks outwards until the stack ends or `slot`, an address on the stack, is reached; then returns
 * 1. Walks up to NESTED_FRAMES_PER_CALL frames. Separate, like walk_steps().
 */
__noinline int walk_some_up_to(__u32 entry, __u64 slot)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);

	if (!walk)
		return 1;
	for (int i = 0; i < NESTED_FRAMES_PER_CALL; i++) {
		if (walk->end || walk->slot >= slot)
			return 1;
		walk->called = walk->regs.pc;
		walk_step(entry);
		walk->unsure |= walk->guessed || walk->unknown;
	}
	return 0;
}

/* Walks up to NESTED_FRAMES frames. Not static, so that the verifier checks it only once. */
__noinline int walk_up_to(__u32 entry, __u64 slot)
{
	for (int i = 0; i < NESTED_FRAMES; i += NESTED_FRAMES_PER_CALL)
		if (walk_some_up_to(entry, slot))
			break;
	return 0;
}

/*
 * True if the function at pc is the marked function, or an allocator function that the marked
 * function jumped to. The call that led to pc returns to return_address. In static programs all
 * libraries are close together, so the call instruction is decoded to find the called function.
 */
static __always_inline bool function__is_marked(__u64 function, __u64 pc, __u64 return_address)
{
	__u64 called;

	if (pc - function + SAME_LIBRARY > 2 * SAME_LIBRARY)
		return false;
	called = arch_called_function(return_address);
	if (!called || called == function || called > pc)
		return true;
	return called < function && function <= pc;
}

/*
 * Searches the stack for the marked call. It is in progress if the walk reaches a frame with that
 * call's stack address (slot), and if the function called from there is the marked function.
 * (Another function may have been called from the same place since.) If the walk had to follow a
 * frame pointer, the result is NESTING_UNSURE.
 */
static __always_inline enum nesting walk__find_call(struct walk *walk, __u32 entry, __u64 slot,
						    __u64 function)
{
	walk_up_to(entry, slot);
	if (walk->unsure)
		return NESTING_UNSURE;
	if (walk->slot == slot)
		return function__is_marked(function, walk->called, walk->regs.pc) ? NESTING_INSIDE
										  : NESTING_NONE;
	/* A walk that ended at NESTED_FRAMES has passed more frames than an allocator can have. */
	if (walk->slot > slot || walk->end == UNWIND_END_COMPLETE || !walk->end)
		return NESTING_NONE;
	return NESTING_UNSURE;
}

/*
 * Searches the stack for both marked calls: the outermost call, at the stack address `call`, and
 * the most recent free, at `freed`. An address is 0 if its call cannot enclose the call being
 * entered.
 */
static __always_inline enum nesting walk__find_calls(struct walk *walk, __u32 entry,
						     const struct thread_state *thread, __u64 call,
						     __u64 freed)
{
	bool freed_first = freed && (!call || freed < call);
	enum nesting found = NESTING_NONE;

	if (freed_first)
		found = walk__find_call(walk, entry, freed, thread->free_function);
	if (found == NESTING_NONE && call)
		found = walk__find_call(walk, entry, call, thread->function);
	if (found == NESTING_NONE && freed && !freed_first)
		found = walk__find_call(walk, entry, freed, thread->free_function);
	return found;
}

static __always_inline enum nesting
stack__find_calls(struct pt_regs *ctx, struct thread_state *thread, __u64 call, __u64 freed)
{
	enum nesting found = NESTING_UNSURE;
	struct walk *walk;
	__u32 entry = 0;

	walk = walk__take(&entry);
	if (!walk)
		return found;
	walk__begin(walk, ctx, thread->image, thread->unloads, &thread->space);
	walk->regs.pc = arch_code_address(arch_return_address(ctx));
	walk->called = PT_REGS_IP(ctx);
	walk->unsure = false;
	found = walk__find_calls(walk, entry, thread, call, freed);
	/* A mapping that a signal handler makes does not belong to the interrupted allocator. */
	if (found == NESTING_INSIDE && walk->interrupted && shape__maps(thread->asked_shape))
		found = NESTING_INTERRUPTED;
	walk__give_back(walk);
	return found;
}

/*
 * Decides whether the call is nested, if the stack walk could not tell. If only a free() is marked
 * (`call` is 0), the call counts as nested if the return address of that free() was stored.
 * Otherwise, a mapping call counts as nested if the marked call's return is reported. In all other
 * cases, the call counts as nested if its caller is the allocator. If the marked call's return is
 * not reported, the decision may be wrong: it is counted as doubtful, and all later returns of the
 * thread are reported.
 */
static __always_inline bool thread__seems_inside(struct pt_regs *ctx, struct thread_state *thread,
						 __u64 call)
{
	bool mapping = shape__maps(thread->asked_shape);

	if (!call)
		return thread->freed.return_address;
	if (thread->unreported) {
		thread->reports_all = true;
		count(MEMLEAK_LOST_NESTING, 1);
	} else if (mapping) {
		return true;
	}
	return thread__is_of_allocator(thread, arch_return_address(ctx));
}

/*
 * True if the call being entered is nested in a marked call. Otherwise drops the mark, or suspends
 * the marked call if a signal handler interrupted it.
 */
static __always_inline bool thread__is_inside(struct pt_regs *ctx, struct thread_state *thread)
{
	bool mapping = shape__maps(thread->asked_shape), inside = false;
	__u64 freed = mapping ? thread->freed.slot : 0, call = 0;

	if (thread->unreported || mark__encloses(ctx, &thread->call))
		call = thread->call.slot;
	switch (stack__find_calls(ctx, thread, call, freed)) {
	case NESTING_UNSURE:
		inside = thread__seems_inside(ctx, thread, call);
		break;
	case NESTING_INSIDE:
		inside = true;
		break;
	case NESTING_INTERRUPTED:
		thread__suspend_call(thread);
		break;
	default:
		/*
		 * The walk found no nesting: from now on, marks record the return address, which
		 * saves such walks.
		 */
		thread->careful |= thread->unreported;
		if (mapping)
			thread->freed.slot = 0;
	}
	if (!inside)
		thread__drop_call(thread);
	else if (!thread->unreported)
		thread->nested++;
	return inside;
}

#endif
