/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is remembered of a thread between the entry and the return of its outermost allocator
 * call, and how a call made inside another is told apart.
 *
 * Nothing here is cleaned up by a return that never comes (longjmp, a lost return probe): each
 * mark is checked against the stack when it matters and replaced when it is stale.
 */
#ifndef THREAD_BPF_H
#define THREAD_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/track.bpf.h"
#include "bpf/user_probes/functions.bpf.h"
#include "bpf/user_probes/unwind.bpf.h"

/* Where a call was made: its slot and the return address that stood there. slot 0: no call. */
struct call_mark {
	__u64 slot;
	__u64 return_address;
};

enum operation {
	OP_ALLOC,          /* p = f(...) */
	OP_REALLOC,        /* p = f(old, ...) */
	OP_POSIX_MEMALIGN, /* err = f(&p, ...) */
	OP_MMAP,
	OP_MUNMAP,
	OP_MREMAP,
};

struct thread_state {
	struct call_mark call;  /* the outermost call in progress */
	struct call_mark freed; /* the last outermost free; it has no return probe */
	__u64 free_function;    /* its address */
	__u64 overwritten;      /* slot of a call whose mark was replaced: it may return yet */
	__u32 nested;           /* calls taken for nested in the one in progress */
	__u32 generation;       /* of the targets when the following were looked up */
	__u32 tid;
	__u32 image;
	__u32 binding;
	__u32 unloads;
	struct known_space space;
	__u32 recalled; /* stacks */

	/* the call in progress */
	__u32 operation;
	__u32 kind;
	bool chosen;
	bool has_old;
	bool unawaited;  /* the kernel was told not to tell of its return: the mark will stay */
	bool awaits_all; /* of this thread's calls no such thing may be told */
	bool careful;    /* with marks of such calls: they say who called */
	__u64 function;
	__u64 size;
	__u64 addr; /* realloc: old block; posix_memalign: where the result goes */
	struct memleak_block old;
	__u64 site;

	__u64 countdown; /* --sample-bytes: to the thread's next sample */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_target);
} targets SEC(".maps");

/* Bumped whenever targets changes: threads look their image up again. */
__u32 targets_generation = 1;

/*
 * Threads have their state where their number says or at the next free place, which is found at
 * once. A place belongs to a task as long as that lives.
 */
#define THREAD_PLACES 16384
#define THREAD_TRIES 8

struct thread_place {
	struct thread_state state; /* first: older verifiers add nothing to what may be NULL */
	__u64 task;
	__u32 tid;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, THREAD_PLACES);
	__type(key, __u32);
	__type(value, struct thread_place);
} thread_places SEC(".maps");

/* The same where places cannot be claimed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREAD_PLACES);
	__type(key, __u32);
	__type(value, struct thread_place);
} thread_table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread_place);
} thread_template SEC(".maps");

static __always_inline struct thread_place *thread_place__at(__u32 tid, __u32 i)
{
	__u32 at = (tid + i) % THREAD_PLACES;

	return bpf_map_lookup_elem(&thread_places, &at);
}

static __always_inline struct thread_place *thread_place__find(__u32 tid)
{
	__u64 task = bpf_get_current_task();

	if (!config.exchange)
		return bpf_map_lookup_elem(&thread_table, &tid);
#pragma unroll
	for (__u32 i = 0; i < THREAD_TRIES; i++) {
		struct thread_place *place = thread_place__at(tid, i);

		if (place && place->task == task && place->tid == tid)
			return place;
	}
	return NULL;
}

static __always_inline struct thread_place *thread_place__claim(__u32 tid)
{
	__u64 task = bpf_get_current_task();
	struct thread_place *template;
	__u32 zero = 0;

	if (!config.exchange) {
		template = bpf_map_lookup_elem(&thread_template, &zero);
		if (!template)
			return NULL;
		bpf_map_update_elem(&thread_table, &tid, template, BPF_NOEXIST);
		return bpf_map_lookup_elem(&thread_table, &tid);
	}
#pragma unroll
	for (__u32 i = 0; i < THREAD_TRIES; i++) {
		struct thread_place *place = thread_place__at(tid, i);

		if (place && !__sync_val_compare_and_swap(&place->task, 0, task)) {
			place->tid = tid;
			__builtin_memset(&place->state, 0, sizeof(place->state));
			return place;
		}
	}
	return NULL;
}

/* The current thread ends, or is to have another tid than this one. */
static __always_inline void thread__end(__u32 tid)
{
	struct thread_place *place;

	if (!config.exchange) {
		bpf_map_delete_elem(&thread_table, &tid);
		return;
	}
	place = thread_place__find(tid);
	if (place)
		place->task = 0;
}

static __always_inline struct thread_state *thread__find(void)
{
	struct thread_place *place = thread_place__find(bpf_get_current_pid_tgid());

	return place ? &place->state : NULL;
}

static __always_inline struct thread_state *thread__create(void)
{
	struct thread_place *place = thread_place__claim(bpf_get_current_pid_tgid());

	return place ? &place->state : NULL;
}

/*
 * The state of the current thread if its process is a target, made when it is first needed, and
 * if the probe that fired is one of its present binding.
 */
static __always_inline struct thread_state *thread__get(__u32 binding)
{
	struct thread_state *thread = thread__find();
	__u32 generation = targets_generation, tgid;
	struct memleak_target *target;
	__u64 pid_tgid;

	if (thread && thread->generation == generation)
		return binding == MEMLEAK_ANY_BINDING || binding == thread->binding ? thread : NULL;
	pid_tgid = bpf_get_current_pid_tgid();
	tgid = pid_tgid >> 32;
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (!target)
		return NULL;
	if (!thread)
		thread = thread__create();
	if (!thread) {
		count(MEMLEAK_LOST_THREADS_FULL, 1);
		return NULL;
	}
	thread->generation = generation;
	thread->tid = pid_tgid;
	thread->image = target->image;
	thread->binding = target->binding;
	thread->unloads = target->unloads;
	thread->space.tgid = tgid;
	thread->space.stamp = 0;
	return binding == MEMLEAK_ANY_BINDING || binding == thread->binding ? thread : NULL;
}

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

/* Entry 0: the program that decides whether a call is nested in one whose return is not awaited. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} deciders SEC(".maps");

/*
 * Since 6.13 kernels run programs of some size on a stack that the CPU has for each of them, and
 * programs of uprobes can be preempted, by another thread in the same one: that overwrites what
 * the first has there, and the kernel crashes (seen with 7.2). Programs that call others at their
 * end stay on the thread's own stack. That they never do it is found out too late to matter.
 */
static __always_inline void stay_on_own_stack(struct pt_regs *ctx)
{
	if (config.never)
		bpf_tail_call(ctx, &deciders, 0);
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
static __always_inline bool thread__is_nested(struct pt_regs *ctx, struct thread_state *thread,
					      __u64 slot, bool mapping)
{
	if (config.sessions && thread->unawaited) {
		/* The marked function jumps to no other one: the next call from there. */
		if (slot >= thread->call.slot)
			return false;
		if (mark__may_enclose(ctx, thread, slot, mapping))
			bpf_tail_call(ctx, &deciders, 0);
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
 * Whether the return of the outermost call is to be seen. If not, nothing of the call is booked,
 * and of what it calls nothing may be; what that is, frame pointers alone cannot tell.
 */
static __always_inline bool thread__awaits_return(struct thread_state *thread)
{
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

	if (awaits || thread->careful)
		thread__note_caller(ctx, thread);
	return awaits;
}

/*
 * Marks an outermost call, whose caller is yet to be noted. NULL: it is nested in another one, or
 * not a target's. A mark that is replaced belongs to a call that will not return, or was made on
 * another stack (a signal handler's): if it does return, leave_call books the difference.
 */
static __always_inline struct thread_state *thread__enter(struct pt_regs *ctx, __u32 binding,
							  bool mapping)
{
	struct thread_state *thread = thread__get(binding);
	__u64 slot = arch_entry_slot(ctx);

	if (!thread)
		return NULL;
	if (thread__is_nested(ctx, thread, slot, mapping))
		return NULL;
	if (mapping && mark__freeing(thread, slot, arch_return_address(ctx)))
		return NULL;
	thread__drop_call(thread);
	thread->nested = 0;
	thread->call.slot = slot;
	thread->call.return_address = 0;
	thread->function = PT_REGS_IP(ctx);
	thread->has_old = false;
	thread->unawaited = false;
	count(MEMLEAK_STAT_CALLS, 1);
	return thread;
}

/* True: the outermost call of the thread returns, and its mark is gone. */
static __always_inline bool thread__leave(struct pt_regs *ctx, struct thread_state *thread)
{
	__u64 slot = arch_return_slot(ctx);

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
