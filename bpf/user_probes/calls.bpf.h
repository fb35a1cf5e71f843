/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks the outermost allocator call of a thread, and detects calls nested in it. A mark consists
 * of the call's address on the stack (slot; see bpf/arch.bpf.h) and its return address.
 *
 * A call may never return (longjmp), or its return probe may be lost, so a mark may be stale. Each
 * mark is checked against the stack before use, and replaced if it is stale.
 */
#ifndef BPF_USER_PROBES_CALLS_BPF_H
#define BPF_USER_PROBES_CALLS_BPF_H

#include "bpf/user_probes/functions.bpf.h"
#include "bpf/user_probes/summary.bpf.h"
#include "bpf/user_probes/thread.bpf.h"

#define TRAMPOLINE_ALIGNMENT 4096

/*
 * True if the word is the address of the process's return trampoline, by which a return probe
 * replaces a return address. Any tracer may have a return probe on a function.
 */
static __always_inline bool is_return_trampoline(__u64 word)
{
	/* The trampoline is page-aligned, so most words need no lookup. */
	return word && word % TRAMPOLINE_ALIGNMENT == 0 && word == return_trampoline();
}

/*
 * True if the call being entered is nested in the marked call. The stack grows down, so a nested
 * call has a lower address on the stack (slot). During the marked call, its slot contains its
 * return address or the return trampoline's. (If slots contain no return address, as on aarch64, a
 * lower slot suffices.) An equal slot means a tail call, which leaves the trampoline in the slot.
 */
static __always_inline bool mark__encloses(struct pt_regs *ctx, const struct call_mark *mark)
{
	__u64 slot = arch_entry_slot(ctx), word;

	if (!mark->slot || slot > mark->slot)
		return false;
	if (!ARCH_SLOT_HOLDS_RETURN_ADDRESS) {
		if (slot < mark->slot)
			return true;
		word = arch_return_address(ctx);
	} else if (!arch_read_slot(mark->slot, &word)) {
		return false;
	} else if (word == mark->return_address && slot < mark->slot) {
		return true;
	}
	return is_return_trampoline(word);
}

/*
 * True if the call at the stack address `slot` may be nested in the thread's most recent call to
 * free(). Only calls made by the allocator can be. Uncertain: free() has no return probe, so its
 * mark stays after its return, and its return address may remain in an unused part of a later
 * frame.
 */
static __always_inline bool mark__may_be_freeing(const struct thread_state *thread, __u64 slot,
						 __u64 caller)
{
	const struct call_mark *mark = &thread->freed;
	__u64 word;

	if (!mark->slot || slot > mark->slot)
		return false;
	if (caller - thread->free_function + SAME_LIBRARY > 2 * SAME_LIBRARY)
		return false;
	if (!mark->return_address)
		return true;
	return arch_read_slot(mark->slot, &word) &&
	       (word == mark->return_address || is_return_trampoline(word));
}

static __always_inline bool thread__is_of_allocator(const struct thread_state *thread, __u64 pc)
{
	return pc - thread->function + SAME_LIBRARY <= 2 * SAME_LIBRARY;
}

/*
 * The tail-call tables. The kernel allows a tail call only between programs attached by the same
 * kind of link, so the programs of probe sessions have their own table.
 */
struct tail_calls {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, MEMLEAK_TAIL_CNT);
	__type(key, __u32);
	__type(value, __u32);
};
struct tail_calls tail_calls SEC(".maps");
struct tail_calls session_tail_calls SEC(".maps");

/*
 * An entry into a probed function: the tail-call table of the running program, and what the probe
 * knows about the function.
 */
struct entry {
	struct tail_calls *tail_calls;
	__u32 binding;
	bool throws; /* true if an exception may leave the function */
};

/*
 * Makes the kernel run the BPF program on the thread's own kernel stack. Linux 6.13 and later run
 * larger programs on a private stack, one for each program and CPU. If another thread on the CPU
 * preempts a uprobe program and runs the same program, it overwrites that stack and crashes the
 * kernel (seen with 7.2). Programs with a tail call stay on the thread's stack. The tail call here
 * is never made, but the compiler cannot know that.
 */
static __always_inline void stay_on_own_stack(struct pt_regs *ctx, struct tail_calls *tail_calls)
{
	if (config.never)
		bpf_tail_call(ctx, tail_calls, MEMLEAK_TAIL_WALK);
}

/*
 * Continues with a tail call to a program that decides, by a stack walk, whether the call is nested
 * in a marked call. If the call is not nested, that program handles this entry again with
 * thread->decided set. Returns only if the tail call fails.
 */
static __always_inline void stack__decide(struct pt_regs *ctx, const struct entry *entry,
					  struct thread_state *thread, __u32 shape)
{
	thread->asked_shape = shape;
	bpf_tail_call(ctx, entry->tail_calls, MEMLEAK_TAIL_DECIDE);
}

/* True if a stack walk has decided that this entry is not nested. Clears that decision. */
static __always_inline bool thread__was_decided(struct thread_state *thread)
{
	if (!thread->decided)
		return false;
	thread->decided = false;
	return true;
}

static __always_inline bool shape__maps(__u32 shape)
{
	return shape == MEMLEAK_SHAPE_MMAP || shape == MEMLEAK_SHAPE_MUNMAP ||
	       shape == MEMLEAK_SHAPE_MREMAP;
}

/* Drops the mark of a call that has ended, or whose return will not be seen. */
static __always_inline void thread__drop_call(struct thread_state *thread)
{
	if (!thread->call.slot)
		return;
	if (thread->suspended.call.slot) {
		thread->suspended.call.slot = 0;
		count(MEMLEAK_LOST_UNRETURNED, 1);
	}
	/*
	 * Calls that seemed nested in a call that had already ended may have been outermost calls.
	 */
	if (thread->nested)
		count(MEMLEAK_LOST_NESTING, thread->nested);
	if (!thread->unreported) {
		count(MEMLEAK_LOST_UNRETURNED, 1);
		thread->overwritten = thread->call.slot;
	}
	thread->call.slot = 0;
}

/*
 * True if the marked call, whose return is not reported, may enclose the call being entered. The
 * mark of such a call stays after the call has ended. If the mark has no return address, only
 * mapping calls and calls made by the allocator may be nested.
 */
static __always_inline bool mark__may_enclose(struct pt_regs *ctx,
					      const struct thread_state *thread, bool mapping)
{
	if (thread->call.return_address)
		return mark__encloses(ctx, &thread->call);
	return mapping || thread__is_of_allocator(thread, arch_return_address(ctx));
}

/*
 * Number of nested calls after which a stack walk checks that the marked call is still in progress:
 * longjmp() may have left it. Repeated whenever the number has doubled.
 */
#define NESTED_DOUBTFUL 16

static __always_inline bool thread__doubts(const struct thread_state *thread)
{
	__u32 nested = thread->nested;

	return nested >= NESTED_DOUBTFUL && !(nested & (nested - 1));
}

/*
 * True if the call at the stack address `slot` is nested in the marked call. If the marked call's
 * return is not reported, its return address may remain in an unused part of a later frame, so only
 * a stack walk can decide. A walk always decides about mapping calls: they are rare, and a signal
 * handler may make them.
 */
static __always_inline bool thread__is_nested(struct pt_regs *ctx, const struct entry *entry,
					      struct thread_state *thread, __u64 slot, __u32 shape)
{
	bool mapping = shape__maps(shape);

	if (config.sessions && thread->unreported) {
		/* The marked function makes no tail call: a call at its stack address is new. */
		if (slot >= thread->call.slot)
			return false;
		if (mark__may_enclose(ctx, thread, mapping))
			stack__decide(ctx, entry, thread, shape);
		thread__drop_call(thread);
		return false;
	}
	if (!mark__encloses(ctx, &thread->call))
		return false;
	if (slot == thread->call.slot) {
		function__hands_on(thread->image, thread->function);
		/* From now on, nested calls come from the function that was jumped to. */
		thread->function = PT_REGS_IP(ctx);
	} else if (mapping || thread__doubts(thread)) {
		stack__decide(ctx, entry, thread, shape);
	}
	thread->nested++;
	return true;
}

/*
 * True if the mapping call at the stack address `slot` may be nested in the thread's most recent
 * call to free(). First makes a tail call to the program that decides by a stack walk, so it
 * returns true only if that fails.
 */
static __always_inline bool thread__is_freeing(struct pt_regs *ctx, const struct entry *entry,
					       struct thread_state *thread, __u64 slot, __u32 shape)
{
	if (!mark__may_be_freeing(thread, slot, arch_return_address(ctx)))
		return false;
	stack__decide(ctx, entry, thread, shape);
	return true;
}

/*
 * Saves the marked call while a signal handler that interrupted it makes a call. The marked call is
 * resumed when the handler's call returns.
 */
static __always_inline void thread__suspend_call(struct thread_state *thread)
{
	struct suspended_call *to = &thread->suspended;

	if (!thread->call.slot)
		return;
	if (to->call.slot)
		count(MEMLEAK_LOST_UNRETURNED, 1);
	to->call = thread->call;
	to->nested = thread->nested;
	to->operation = thread->operation;
	to->kind = thread->kind;
	to->chosen = thread->chosen;
	to->has_old = thread->has_old;
	to->read_by = thread->read_by;
	to->frees_old = thread->frees_old;
	to->throws = thread->throws;
	to->unreported = thread->unreported;
	to->function = thread->function;
	to->size = thread->size;
	to->addr = thread->addr;
	to->extra = thread->extra;
	to->old = thread->old;
	to->site = thread->site;
	to->stack = thread->stack;
	thread->call.slot = 0;
}

static __always_inline void thread__resume_call(struct thread_state *thread)
{
	struct suspended_call *from = &thread->suspended;

	if (!from->call.slot)
		return;
	thread->call = from->call;
	thread->nested = from->nested;
	thread->operation = from->operation;
	thread->kind = from->kind;
	thread->chosen = from->chosen;
	thread->has_old = from->has_old;
	thread->read_by = from->read_by;
	thread->frees_old = from->frees_old;
	thread->throws = from->throws;
	thread->unreported = from->unreported;
	thread->function = from->function;
	thread->size = from->size;
	thread->addr = from->addr;
	thread->extra = from->extra;
	thread->old = from->old;
	thread->site = from->site;
	thread->stack = from->stack;
	from->call.slot = 0;
}

/*
 * True if a return probe must report the return of the outermost call. False if an exception may
 * leave the call: probes on return instructions then report its return. Otherwise the return can go
 * unreported only if the call is not recorded, its function makes no tail call, and stack walks can
 * tell which calls are nested in it. Walks by frame pointers alone cannot.
 */
static __always_inline bool thread__awaits_return(struct thread_state *thread)
{
	if (thread->throws)
		return false;
	if (!config.sessions || config.unwind == MEMLEAK_UNWIND_FP || thread->reports_all ||
	    !ARCH_SLOT_HOLDS_RETURN_ADDRESS)
		return true;
	if (thread->chosen || thread->has_old || thread->suspended.call.slot)
		return true;
	if (thread->operation != OP_ALLOC && thread->operation != OP_POSIX_MEMALIGN &&
	    thread->operation != OP_MMAP)
		return true;
	thread->unreported = function__is_known(thread->image, thread->function);
	return !thread->unreported;
}

/* Stores the return address in the mark. Programs that walk the stack do this themselves. */
static __always_inline void thread__note_caller(struct pt_regs *ctx, struct thread_state *thread)
{
	thread->call.return_address = arch_return_address(ctx);
}

/* Ends the handling of a call's entry. True if a return probe must report its return. */
static __always_inline bool thread__leaves_entry(struct pt_regs *ctx, struct thread_state *thread,
						 __u32 shape)
{
	bool awaits = thread__awaits_return(thread);

	if (!thread->unreported || thread->careful || shape__maps(shape))
		thread__note_caller(ctx, thread);
	return awaits;
}

/*
 * Marks an outermost call; its return address is stored later. Returns NULL if the call is nested
 * or the process is no target. If another call was marked, that call will not return, or it runs on
 * a stack other than that of the new call (one of them may be a signal stack). If the earlier call
 * does return, thread__leave() corrects the counters.
 */
static __always_inline struct thread_state *thread__enter(struct pt_regs *ctx,
							  const struct entry *entry, __u32 shape)
{
	struct thread_state *thread = thread__get(entry->binding);
	__u64 slot = arch_entry_slot(ctx);

	if (!thread)
		return NULL;
	if (!thread__was_decided(thread) &&
	    (thread__is_nested(ctx, entry, thread, slot, shape) ||
	     (shape__maps(shape) && thread__is_freeing(ctx, entry, thread, slot, shape))))
		return NULL;
	thread__drop_call(thread);
	thread->nested = 0;
	thread->raised = 0;
	thread->call.slot = slot;
	thread->call.return_address = 0;
	thread->function = PT_REGS_IP(ctx);
	thread->has_old = false;
	thread->throws = entry->throws;
	thread->unreported = false;
	count(MEMLEAK_STAT_CALLS_OF + shape, 1);
	summary__call(thread->image, shape);
	return thread;
}

/*
 * Handles the return of the call at the stack address `slot`. Clears the mark and returns true if
 * this is the outermost call.
 */
static __always_inline bool thread__leave(struct thread_state *thread, __u64 slot)
{
	if (slot == thread->call.slot) {
		thread->call.slot = 0;
		function__returned(thread->image, thread->function);
		return true;
	}
	if (slot == thread->overwritten) {
		thread->overwritten = 0;
		count(MEMLEAK_LOST_UNRETURNED, -1);
		count(MEMLEAK_LOST_NESTING, 1);
	}
	return false;
}

#endif
