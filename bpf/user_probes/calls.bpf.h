/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outermost allocator call of a thread, and how a call made inside another is told apart.
 *
 * Nothing here is cleaned up by a return that never comes (longjmp, a lost return probe): each
 * mark is checked against the stack when it matters and replaced when it is stale.
 */
#ifndef CALLS_BPF_H
#define CALLS_BPF_H

#include "bpf/user_probes/functions.bpf.h"
#include "bpf/user_probes/summary.bpf.h"
#include "bpf/user_probes/thread.bpf.h"

#define TRAMPOLINE_ALIGNMENT 4096

/*
 * Is the call at slot made inside the marked one? The stack grows down, so its slot is lower;
 * and the marked call has not returned as long as its slot still holds the return address, or
 * the trampoline of a return probe. An equal slot is a tail call, to which the trampoline that
 * the marked call got is handed on.
 */
static __always_inline bool mark__encloses(const struct call_mark *mark, __u64 slot)
{
	__u64 word;

	if (!mark->slot || slot > mark->slot)
		return false;
	if (!ARCH_SLOT_HOLDS_RETURN_ADDRESS)
		return slot < mark->slot;
	if (!arch_read_slot(mark->slot, &word))
		return false;
	if (word == mark->return_address && slot < mark->slot)
		return true;
	/* It begins a page, which spares most words the way to it. */
	return word % TRAMPOLINE_ALIGNMENT == 0 && word == return_trampoline();
}

/*
 * The same for a free, which has no return probe: its mark stays when it is over, and its return
 * address may outlive it in a hole of a later frame. So the caller must be the allocator's too.
 */
static __always_inline bool mark__freeing(const struct thread_state *thread, __u64 slot,
					  __u64 caller)
{
	const struct call_mark *mark = &thread->freed;
	__u64 word;

	if (!mark->slot || slot > mark->slot)
		return false;
	if (caller - thread->free_function + SAME_LIBRARY > 2 * SAME_LIBRARY)
		return false;
	/* The trampoline: somebody else wants to know when free returns. */
	return arch_read_slot(mark->slot, &word) &&
	       (word == mark->return_address || word == return_trampoline());
}

static __always_inline bool thread__is_of_allocator(const struct thread_state *thread, __u64 pc)
{
	return pc - thread->function + SAME_LIBRARY <= 2 * SAME_LIBRARY;
}

/*
 * Programs that others end with. The kernel wants both held by links of one kind, so those of
 * sessions have their own.
 */
struct endings {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, MEMLEAK_ENDING_CNT);
	__type(key, __u32);
	__type(value, __u32);
};
struct endings endings SEC(".maps");
struct endings session_endings SEC(".maps");

/* An entry: what program saw it, and what the probe says of itself. */
struct entry {
	struct endings *endings;
	__u32 binding;
	bool throws; /* an exception may end the call */
};

/*
 * Since 6.13 kernels run programs of some size on a stack that the CPU has for each of them, and
 * programs of uprobes can be preempted, by another thread in the same one: that overwrites what
 * the first has there, and the kernel crashes (seen with 7.2). Programs that call others at their
 * end stay on the thread's own stack. That they never do it is found out too late to matter.
 */
static __always_inline void stay_on_own_stack(struct pt_regs *ctx, struct endings *endings)
{
	if (config.never)
		bpf_tail_call(ctx, endings, MEMLEAK_ENDING_WALK);
}

/* The mark of a call that is over, or will not be heard of. */
static __always_inline void thread__drop_call(struct thread_state *thread)
{
	if (!thread->call.slot)
		return;
	/* What seemed to be nested in a call that was over may have been outermost. */
	if (thread->nested)
		count(MEMLEAK_LOST_NESTING, thread->nested);
	if (!thread->unawaited) {
		count(MEMLEAK_LOST_UNRETURNED, 1);
		thread->overwritten = thread->call.slot;
	}
	thread->call.slot = 0;
}

/*
 * Whether the call at slot may be made inside the marked one, whose return is not awaited. Such a
 * mark stays when the call is over, and it says nothing of the caller unless the thread is careful:
 * what the allocator calls is called by it, most other calls are not.
 */
static __always_inline bool
mark__may_enclose(struct pt_regs *ctx, const struct thread_state *thread, __u64 slot, bool mapping)
{
	if (thread->call.return_address)
		return mark__encloses(&thread->call, slot);
	return mapping || thread__is_of_allocator(thread, arch_return_address(ctx));
}

/*
 * Is the call at slot made inside the marked one? If that one's return is not awaited, its return
 * address may outlive it in a hole of a later frame. Then only a walk of the stack can tell; the
 * program that takes it does for this entry what is to be done.
 */
static __always_inline bool thread__is_nested(struct pt_regs *ctx, const struct entry *entry,
					      struct thread_state *thread, __u64 slot, bool mapping)
{
	if (config.sessions && thread->unawaited) {
		/* The marked function jumps to no other one: the next call from there. */
		if (slot >= thread->call.slot)
			return false;
		if (mark__may_enclose(ctx, thread, slot, mapping))
			bpf_tail_call(ctx, entry->endings, MEMLEAK_ENDING_DECIDE);
		thread__drop_call(thread);
		return false;
	}
	if (!mark__encloses(&thread->call, slot))
		return false;
	if (slot == thread->call.slot)
		function__hands_on(thread->image, thread->function);
	thread->nested++;
	return true;
}

/*
 * Whether the return of the outermost call is to be seen by a return probe. If not, nothing of the
 * call is booked, and of what it calls nothing may be; what that is, frame pointers alone cannot
 * tell.
 */
static __always_inline bool thread__awaits_return(struct thread_state *thread)
{
	if (thread->throws)
		return false;
	if (!config.sessions || config.unwind == MEMLEAK_UNWIND_FP || thread->awaits_all ||
	    !ARCH_SLOT_HOLDS_RETURN_ADDRESS)
		return true;
	if (thread->chosen || thread->has_old)
		return true;
	if (thread->operation != OP_ALLOC && thread->operation != OP_POSIX_MEMALIGN &&
	    thread->operation != OP_MMAP)
		return true;
	thread->unawaited = function__is_known(thread->image, thread->function);
	return !thread->unawaited;
}

/* Of the marked call. Whoever walks the stack finds it there, too. */
static __always_inline void thread__note_caller(struct pt_regs *ctx, struct thread_state *thread)
{
	thread->call.return_address = arch_return_address(ctx);
}

/* At the end of a heap function's entry: whether its return is awaited. */
static __always_inline bool thread__leaves_entry(struct pt_regs *ctx, struct thread_state *thread)
{
	bool awaits = thread__awaits_return(thread);

	if (!thread->unawaited || thread->careful)
		thread__note_caller(ctx, thread);
	return awaits;
}

/*
 * Marks an outermost call, whose caller is yet to be noted. NULL: it is nested in another one, or
 * not a target's. A mark that is replaced belongs to a call that will not return, or was made on
 * another stack (a signal handler's): if it does return, leave_call books the difference.
 */
static __always_inline struct thread_state *
thread__enter(struct pt_regs *ctx, const struct entry *entry, __u32 shape, bool mapping)
{
	struct thread_state *thread = thread__get(entry->binding);
	__u64 slot = arch_entry_slot(ctx);

	if (!thread)
		return NULL;
	if (thread__is_nested(ctx, entry, thread, slot, mapping))
		return NULL;
	if (mapping && mark__freeing(thread, slot, arch_return_address(ctx)))
		return NULL;
	thread__drop_call(thread);
	thread->nested = 0;
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

/* True: the outermost call of the thread, which is at slot, returns, and its mark is gone. */
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

/* An exception is about to end the marked call, if that is in progress: it gives nothing. */
static __always_inline void thread__raise(struct pt_regs *ctx)
{
	struct thread_state *thread = thread__find();

	if (thread && !thread->unawaited && mark__encloses(&thread->call, arch_entry_slot(ctx)))
		thread->call.slot = 0;
}

#endif
