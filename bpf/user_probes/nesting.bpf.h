/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a call is nested in one whose return is not awaited: what the stack says. */
#ifndef NESTING_BPF_H
#define NESTING_BPF_H

#include "bpf/user_probes/stack.bpf.h"

/* So many functions may be between the two calls. */
#define NESTED_FRAMES 64

enum nesting {
	NESTING_NONE,
	NESTING_INSIDE,
	NESTING_UNSURE,
};

/*
 * The marked call is in progress if its slot is one of those that hold return addresses. The
 * function there must be the allocator's: the same place may have called another one since. A
 * frame pointer that was followed proves nothing.
 */
static __always_inline enum nesting walk__find_call(struct walk *walk, __u32 entry,
						    const struct thread_state *thread)
{
	bool guessed = false, over = false;
	__u64 pc = 0;

	for (int i = 0; i < NESTED_FRAMES && !over && walk->slot < thread->call.slot; i++) {
		pc = walk->regs.pc;
		over = walk_step(entry);
		guessed |= walk->guessed || walk->unknown;
	}
	if (guessed)
		return NESTING_UNSURE;
	if (walk->slot == thread->call.slot)
		return thread__is_of_allocator(thread, pc) ? NESTING_INSIDE : NESTING_NONE;
	if (walk->slot > thread->call.slot || walk->end == UNWIND_END_COMPLETE)
		return NESTING_NONE;
	return NESTING_UNSURE;
}

/*
 * Where the stack tells nothing, the caller is asked. That may be wrong, so it is counted, and it
 * is the last time that the thread need ask.
 */
static __always_inline bool thread__is_inside(struct pt_regs *ctx, struct thread_state *thread)
{
	__u64 caller = arch_return_address(ctx);
	enum nesting found = NESTING_UNSURE;
	struct walk *walk;
	__u32 entry = 0;

	walk = walk__take(&entry);
	if (walk) {
		walk__begin(walk, ctx, thread->image, thread->unloads, &thread->space);
		walk->regs.pc = arch_code_address(caller);
		found = walk__find_call(walk, entry, thread);
		walk__give_back(walk);
	}
	/* That was a walk in vain. */
	if (found == NESTING_NONE)
		thread->careful = true;
	if (found != NESTING_UNSURE)
		return found == NESTING_INSIDE;
	thread->awaits_all = true;
	count(MEMLEAK_LOST_NESTING, 1);
	return thread__is_of_allocator(thread, caller);
}

#endif
