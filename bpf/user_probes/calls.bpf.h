/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outermost allocator call of a thread, and how a call made inside another is recognised.
 *
 * No mark is cleaned up by a return that never comes (longjmp, a lost return probe): each is
 * checked against the stack when it matters, and replaced when it is stale.
 */
#ifndef BPF_USER_PROBES_CALLS_BPF_H
#define BPF_USER_PROBES_CALLS_BPF_H

#include "bpf/user_probes/functions.bpf.h"
#include "bpf/user_probes/summary.bpf.h"
#include "bpf/user_probes/thread.bpf.h"

#define TRAMPOLINE_ALIGNMENT 4096

/*
 * Is the call that is entered made inside the marked one? The stack grows down, so its slot is
 * lower; and the marked call has not returned as long as its slot still holds the return address,
 * or the trampoline of a return probe. An equal slot is a tail call, to which the trampoline that
 * the marked call got is handed on.
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
	/* It begins a page: that spares looking for it with most words. */
	return word && word % TRAMPOLINE_ALIGNMENT == 0 && word == return_trampoline();
}

/*
 * Whether the call at slot may be made inside the last free. That has no return probe: its mark
 * stays when it is over, and its return address may outlive it in a hole of a later frame. What
 * free calls is called by the allocator.
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
	/* The trampoline stands there: somebody else wants to know when free returns. */
	return arch_read_slot(mark->slot, &word) &&
	       (word == mark->return_address || (word && word == return_trampoline()));
}

static __always_inline bool thread__is_of_allocator(const struct thread_state *thread, __u64 pc)
{
	return pc - thread->function + SAME_LIBRARY <= 2 * SAME_LIBRARY;
}

/*
 * The tail-call tables. The kernel wants both ends of a tail call held by links of one kind, so
 * entry programs of sessions have a table of their own.
 */
struct tail_calls {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, MEMLEAK_TAIL_CNT);
	__type(key, __u32);
	__type(value, __u32);
};
struct tail_calls tail_calls SEC(".maps");
struct tail_calls session_tail_calls SEC(".maps");

/* An entry of a probed function: which program saw it, and what the probe knows of the function. */
struct entry {
	struct tail_calls *tail_calls;
	__u32 binding;
	bool throws; /* an exception may end the call */
};

/*
 * Since 6.13 kernels run programs of some size on a stack that the CPU has for each of them, and
 * programs of uprobes can be preempted by another thread in the same one: that overwrites what the
 * first has there, and the kernel crashes (seen with 7.2). Programs that end with a tail call stay
 * on the thread's own stack, so each has a tail call that it never makes, which the compiler cannot
 * know.
 */
static __always_inline void stay_on_own_stack(struct pt_regs *ctx, struct tail_calls *tail_calls)
{
	if (config.never)
		bpf_tail_call(ctx, tail_calls, MEMLEAK_TAIL_WALK);
}

/*
 * Has a walk of the stack decide whether the call is made inside a marked one. If it is not, the
 * program that walks runs this entry once more, as decided. Comes back only if there is none.
 */
static __always_inline void stack__decide(struct pt_regs *ctx, const struct entry *entry,
					  struct thread_state *thread, __u32 shape)
{
	thread->asked_shape = shape;
	bpf_tail_call(ctx, entry->tail_calls, MEMLEAK_TAIL_DECIDE);
}

/* Whether this entry is known not to be made inside another call. */
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

/* Drops the mark of a call that is over, or whose return will not be seen. */
static __always_inline void thread__drop_call(struct thread_state *thread)
{
	if (!thread->call.slot)
		return;
	if (thread->suspended.call.slot) {
		thread->suspended.call.slot = 0;
		count(MEMLEAK_LOST_UNRETURNED, 1);
	}
	/*
	 * Calls that seemed to be nested in one that was over may have been outermost: counts them.
	 */
	if (thread->nested)
		count(MEMLEAK_LOST_NESTING, thread->nested);
	if (!thread->unawaited) {
		count(MEMLEAK_LOST_UNRETURNED, 1);
		thread->overwritten = thread->call.slot;
	}
	thread->call.slot = 0;
}

/*
 * Whether the call that is entered may be made inside the marked one, whose return is not awaited.
 * Such a mark stays when the call is over, and it says nothing of the caller unless the thread is
 * careful: what the allocator calls is called by it, most other calls are not.
 */
static __always_inline bool mark__may_enclose(struct pt_regs *ctx,
					      const struct thread_state *thread, bool mapping)
{
	if (thread->call.return_address)
		return mark__encloses(ctx, &thread->call);
	return mapping || thread__is_of_allocator(thread, arch_return_address(ctx));
}

/*
 * So many calls seem to be made inside one whose return is awaited that it may have been left by a
 * jump.
 */
#define NESTED_DOUBTFUL 16

static __always_inline bool thread__doubts(const struct thread_state *thread)
{
	__u32 nested = thread->nested;

	return nested >= NESTED_DOUBTFUL && !(nested & (nested - 1));
}

/*
 * Is the call at slot made inside the marked one? If the return of that one is not awaited, its
 * return address may outlive it in a hole of a later frame. Then only a walk of the stack can tell.
 * Mappings are few, and may be those of a signal's handler: the stack tells that, too.
 */
static __always_inline bool thread__is_nested(struct pt_regs *ctx, const struct entry *entry,
					      struct thread_state *thread, __u64 slot, __u32 shape)
{
	bool mapping = shape__maps(shape);

	if (config.sessions && thread->unawaited) {
		/*
		 * The marked function jumps to no other one: the next call is made from the same
		 * place.
		 */
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
		/* The function that was jumped to makes all calls from now on. */
		thread->function = PT_REGS_IP(ctx);
	} else if (mapping || thread__doubts(thread)) {
		stack__decide(ctx, entry, thread, shape);
	}
	thread->nested++;
	return true;
}

/* Is the mapping at slot made inside the last free? */
static __always_inline bool thread__is_freeing(struct pt_regs *ctx, const struct entry *entry,
					       struct thread_state *thread, __u64 slot, __u32 shape)
{
	if (!mark__may_be_freeing(thread, slot, arch_return_address(ctx)))
		return false;
	stack__decide(ctx, entry, thread, shape);
	return true;
}

/*
 * A signal came in the middle of the marked call, and its handler makes a call of its own: the
 * marked one goes on when that has returned.
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
	to->met_by = thread->met_by;
	to->frees_old = thread->frees_old;
	to->throws = thread->throws;
	to->unawaited = thread->unawaited;
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
	thread->met_by = from->met_by;
	thread->frees_old = from->frees_old;
	thread->throws = from->throws;
	thread->unawaited = from->unawaited;
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
 * Whether the return of the outermost call is to be seen by a return probe. If not, nothing may be
 * booked of the call, nor of what it calls; what that is, frame pointers alone cannot tell.
 */
static __always_inline bool thread__awaits_return(struct thread_state *thread)
{
	if (thread->throws)
		return false;
	if (!config.sessions || config.unwind == MEMLEAK_UNWIND_FP || thread->awaits_all ||
	    !ARCH_SLOT_HOLDS_RETURN_ADDRESS)
		return true;
	if (thread->chosen || thread->has_old || thread->suspended.call.slot)
		return true;
	if (thread->operation != OP_ALLOC && thread->operation != OP_POSIX_MEMALIGN &&
	    thread->operation != OP_MMAP)
		return true;
	thread->unawaited = function__is_known(thread->image, thread->function);
	return !thread->unawaited;
}

/* Notes who called. Whoever walks the stack finds it there, too. */
static __always_inline void thread__note_caller(struct pt_regs *ctx, struct thread_state *thread)
{
	thread->call.return_address = arch_return_address(ctx);
}

/* At the end of an entry: whether the return of the call is awaited. */
static __always_inline bool thread__leaves_entry(struct pt_regs *ctx, struct thread_state *thread,
						 __u32 shape)
{
	bool awaits = thread__awaits_return(thread);

	if (!thread->unawaited || thread->careful || shape__maps(shape))
		thread__note_caller(ctx, thread);
	return awaits;
}

/*
 * Marks an outermost call, whose caller is yet to be noted. NULL: it is nested in another one, or
 * not a target's. A mark that is replaced belongs to a call that will not return, or was made on
 * another stack (a signal handler's): if it does return, leave_call books the difference.
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
	thread->unawaited = false;
	count(MEMLEAK_STAT_CALLS_OF + shape, 1);
	summary__call(thread->image, shape);
	return thread;
}

/*
 * True: this is the return of the thread's outermost call, which is at slot, and its mark is gone.
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
