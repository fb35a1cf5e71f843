/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -tt: captures the stacks of frees, and of calls that get no site. Also contains the programs that
 * walk any stack with the kernel's VMAs.
 */
#ifndef BPF_USER_PROBES_EVENT_STACK_BPF_H
#define BPF_USER_PROBES_EVENT_STACK_BPF_H

#include "bpf/user_probes/stack.bpf.h"

static __always_inline bool walk__is_stored(const struct walk *walk)
{
	__u64 stack = walk->stack.hash;

	if (!bpf_map_lookup_elem(&stacks, &stack))
		return false;
	count(MEMLEAK_STAT_CACHED, 1);
	return true;
}

static __always_inline void walk__store_stack(struct pt_regs *ctx, struct walk *walk, __u32 entry,
					      __u64 return_address)
{
	bool deferred = walk__is_deferred(walk);

	walk__complete(walk, entry, deferred);
	if (stack__store(&walk->stack))
		count(MEMLEAK_LOST_STACKS_FULL, 1);
	walk__cache(walk, 0);
	if (deferred)
		deferred__send(ctx, walk, return_address);
	if (walk->unknown)
		send_code(walk);
	send_stacks(walk);
}

/*
 * Ends the handling of an entry whose stack was captured only for -tt. Sends the event of a free;
 * for other calls, stores the stack for the event at the return. True if a return probe must report
 * the return.
 */
static __always_inline bool send_event(struct pt_regs *ctx, struct thread_state *thread,
				       __u64 stack)
{
	__u64 freed = thread->free_addr;

	if (freed) {
		thread->free_addr = 0;
		emit_event(thread, MEMLEAK_EVENT_FREE, thread->free_function, freed,
			   thread->free_size, stack);
		return false;
	}
	thread__note_caller(ctx, thread);
	thread->stack = stack;
	return thread__awaits_return(thread);
}

/* Walks the whole stack with the kernel's VMAs. Not cached: nothing reports changes of VMAs. */
static __always_inline void walk__all_by_vma(struct walk *walk, __u32 entry)
{
	walk->doubtful = 0;
	walk->depends.not_fitting = 1;
	for (int i = 0; i < STEPS_MAX; i += STEPS_PER_CALL)
		if (walk_steps_by_vma(entry))
			break;
}

static __always_inline bool capture_event(struct pt_regs *ctx, struct tail_calls *tail_calls,
					  bool by_vma)
{
	struct thread_state *thread = thread__find();
	__u64 return_address, stack = 0;
	struct walk *walk;
	__u32 entry = 0;

	if (!thread)
		return true;
	walk = walk__take(&entry);
	if (walk) {
		walk__begin(walk, ctx, thread->image, thread->unloads, &thread->space);
		return_address = walk__see_call(walk, ctx);
		walk->regs.pc = arch_code_address(return_address);
		if (by_vma || !walk_look_up(entry) || !walk__is_stored(walk)) {
			walk__forget(walk);
			if (by_vma) {
				walk__all_by_vma(walk, entry);
			} else if (!walk__all(walk, entry)) {
				walk__give_back(walk);
				thread->event_by_vma = true;
				bpf_tail_call(ctx, tail_calls, MEMLEAK_TAIL_VMA);
				thread->event_by_vma = false;
				return send_event(ctx, thread, 0);
			}
			walk__store_stack(ctx, walk, entry, return_address);
		}
		stack = walk->stack.hash;
		walk__give_back(walk);
	}
	return send_event(ctx, thread, stack);
}

SEC("uprobe")
int walk_event(struct pt_regs *ctx)
{
	stay_on_own_stack(ctx, &tail_calls);
	capture_event(ctx, &tail_calls, false);
	return 0;
}

SEC("uprobe")
int session_event(struct pt_regs *ctx)
{
	stay_on_own_stack(ctx, &session_tail_calls);
	return !capture_event(ctx, &session_tail_calls, false);
}

static __always_inline bool capture_by_vma(struct pt_regs *ctx)
{
	struct thread_state *thread = thread__find();
	struct walk *walk;
	__u32 entry = 0;

	if (!thread)
		return true;
	if (config.trace_stacks && thread->event_by_vma) {
		thread->event_by_vma = false;
		return capture_event(ctx, NULL, true);
	}
	walk = capture__begin(ctx, thread, &entry);
	if (!walk)
		return thread__awaits_return(thread);
	walk__all_by_vma(walk, entry);
	walk__store(ctx, walk, entry, thread);
	return capture__end(walk, thread);
}

SEC("uprobe")
int walk_by_vma(struct pt_regs *ctx)
{
	stay_on_own_stack(ctx, &tail_calls);
	capture_by_vma(ctx);
	return 0;
}

SEC("uprobe")
int session_walk_by_vma(struct pt_regs *ctx)
{
	stay_on_own_stack(ctx, &session_tail_calls);
	return !capture_by_vma(ctx);
}

#endif
