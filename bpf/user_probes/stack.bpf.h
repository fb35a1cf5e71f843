/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures the user stack at the entry of an allocator function, and finds or creates its site.
 * memleak's return probe for this call is not set yet, so the return address is still on the stack.
 *
 * Entry programs end with a tail call to a program that walks the stack. So each entry program
 * stays small, and the walk is verified only once.
 */
#ifndef BPF_USER_PROBES_STACK_BPF_H
#define BPF_USER_PROBES_STACK_BPF_H

#include "bpf/user_probes/calls.bpf.h"
#include "bpf/user_probes/copies.bpf.h"
#include "bpf/user_probes/ring.bpf.h"
#include "bpf/user_probes/script_frames.bpf.h"
#include "bpf/user_probes/stack_cache.bpf.h"

/*
 * Asks the loader, at a limited rate, to read the mappings again: the stack leads through code in
 * no known mapping.
 */
static __always_inline void send_code(struct walk *walk)
{
	__u32 tgid = current_pids() >> 32;
	struct memleak_target *target = bpf_map_lookup_elem(&targets, &tgid);
	__u64 now = bpf_ktime_get_ns();
	struct memleak_record *record;

	if (!target || now - target->code_sent_ns < CODE_SENT_NS)
		return;
	target->code_sent_ns = now;
	record = record__reserve(MEMLEAK_REC_CODE, walk->image);
	if (!record)
		return;
	record->addr = walk->unknown;
	bpf_ringbuf_submit(record, 0);
}

/* If the stack table is nearly full, asks the loader to evict stacks without outstanding blocks. */
static __always_inline void send_stacks(struct walk *walk)
{
	struct memleak_record *record;

	if (stack_watch.is_sent || stack_watch.stored < stack_watch.limit)
		return;
	stack_watch.is_sent = 1;
	record = record__reserve(MEMLEAK_REC_STACKS, walk->image);
	if (record)
		bpf_ringbuf_submit(record, 0);
}

/*
 * Reports a new stack with script frames, so that the loader reads the names of the frames before
 * the interpreter frees their code objects.
 */
static __always_inline void tell_of_scripts(struct walk *walk)
{
	__u64 stack = walk->stack.hash;
	struct memleak_record *record;

	if (!walk->script_cnt || bpf_map_lookup_elem(&stacks, &stack))
		return;
	record = record__reserve(MEMLEAK_REC_SCRIPT, walk->image);
	if (!record)
		return;
	record->addr = stack;
	bpf_ringbuf_submit(record, 0);
}

/* Completes a walked stack: fills in its header and hash, and adds its script frames. */
static __always_inline void walk__complete(struct walk *walk, __u32 entry, bool deferred)
{
	struct memleak_stack *header = (void *)&walk->stack.words[0];

	walk__finish(walk, deferred);
	walk->native_hash = walk->stack.hash;
	if (!walk->interpreter)
		return;
	walk__take_scripts(walk, entry, deferred, false);
	header->script_cnt = walk->script_cnt;
	tell_of_scripts(walk);
}

static __always_inline void walk__store(struct pt_regs *ctx, struct walk *walk, __u32 entry,
					struct thread_state *thread)
{
	bool deferred = walk__is_deferred(walk);

	walk__complete(walk, entry, deferred);
	if (!site__get(&walk->stack, thread->image, thread->kind, &thread->site))
		thread->chosen = false;
	walk__cache(walk, thread->chosen ? thread->kind + 1 : 0);
	if (deferred)
		deferred__send(ctx, walk, thread->call.return_address);
	if (walk->unknown)
		send_code(walk);
	send_stacks(walk);
}

/* Maximum number of steps of a walk. A frame with a return probe takes two. */
#define STEPS_MAX (2 * MEMLEAK_MAX_STACK_DEPTH + 1)

/*
 * Makes one step of a walk. Not static, so that the verifier checks the function only once. Older
 * verifiers allow only scalar parameters for such functions, so the function looks up the walk by
 * its index.
 */
__noinline int walk_step(__u32 entry)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);

	return !walk || walk__step(walk, false);
}

#define STEPS_PER_CALL 32

/*
 * Makes up to STEPS_PER_CALL steps; returns 1 if the walk is over. Separate, so that the verifier
 * checks the iterations of this loop and of the caller's, not their product.
 */
__noinline int walk_steps(__u32 entry)
{
	for (int i = 0; i < STEPS_PER_CALL; i++)
		if (walk_step(entry))
			return 1;
	return 0;
}

__noinline int walk_step_by_vma(__u32 entry)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);

	return !walk || walk__step(walk, true);
}

__noinline int walk_steps_by_vma(__u32 entry)
{
	for (int i = 0; i < STEPS_PER_CALL; i++)
		if (walk_step_by_vma(entry))
			return 1;
	return 0;
}

__noinline int walk_look_up(__u32 entry)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);

	if (!walk || !walk__look_up(walk, entry))
		return 0;
	walk->native_hash = walk->stack.hash;
	if (walk->interpreter) {
		walk->frame_cnt = walk->note;
		walk__take_scripts(walk, entry, false, true);
	}
	return 1;
}

/*
 * Reserves an entry of the map `walks`; returns NULL if all are in use. An entry is free if its
 * user count is 1 after this program has added itself: of two programs that add themselves at the
 * same time (one preempts the other, as entries are per CPU), at most one sees 1.
 */
static __always_inline struct walk *walk__take(__u32 *entry)
{
	for (__u32 i = 0; i < WALKS_AT_ONCE; i++) {
		struct walk *walk;

		*entry = i;
		walk = bpf_map_lookup_elem(&walks, entry);
		if (!walk)
			return NULL;
		__sync_fetch_and_add(&walk->users, 1);
		if (*(volatile __u64 *)&walk->users == 1) {
			walk->entry = i;
			return walk;
		}
		__sync_fetch_and_add(&walk->users, -1);
	}
	return NULL;
}

static __always_inline void walk__give_back(struct walk *walk)
{
	__sync_fetch_and_add(&walk->users, -1);
}

static __always_inline struct walk *capture__begin(struct pt_regs *ctx, struct thread_state *thread,
						   __u32 *entry)
{
	struct walk *walk = walk__take(entry);

	if (!walk) {
		count(MEMLEAK_LOST_THREADS_FULL, 1);
		thread__note_caller(ctx, thread);
		thread->chosen = false;
		return NULL;
	}
	walk__begin(walk, ctx, thread->image, thread->unloads, &thread->space);
	thread->call.return_address = walk__see_call(walk, ctx);
	walk->regs.pc = arch_code_address(thread->call.return_address);
	return walk;
}

static __always_inline bool capture__end(struct walk *walk, struct thread_state *thread)
{
	if (config.trace_stacks)
		thread->stack = walk->stack.hash;
	walk__give_back(walk);
	return thread__awaits_return(thread);
}

/*
 * Walks the stack. Returns false if the walk must start again with the kernel's VMAs, because a
 * mapping is missing or may be out of date.
 */
static __always_inline bool walk__all(struct walk *walk, __u32 entry)
{
	bool known = !config.find_vma || walk__is_certain(walk);

	for (int i = 0; known && i < STEPS_MAX; i += STEPS_PER_CALL)
		if (walk_steps(entry))
			break;
	return known && !(config.find_vma && walk->unknown);
}

/* Captures the stack and finds its site. True if a return probe must report the call's return. */
static __always_inline bool capture(struct pt_regs *ctx, struct tail_calls *tail_calls)
{
	struct thread_state *thread = thread__find();
	struct walk *walk;
	__u32 entry = 0;

	if (!thread)
		return true;
	walk = capture__begin(ctx, thread, &entry);
	if (!walk)
		return thread__awaits_return(thread);
	if (!walk_look_up(entry) || !walk__find_site(walk, thread)) {
		if (!walk__all(walk, entry)) {
			walk__give_back(walk);
			bpf_tail_call(ctx, tail_calls, MEMLEAK_TAIL_VMA);
			return thread__awaits_return(thread);
		}
		walk__store(ctx, walk, entry, thread);
	}
	return capture__end(walk, thread);
}

SEC("uprobe")
int walk_stack(struct pt_regs *ctx)
{
	stay_on_own_stack(ctx, &tail_calls);
	capture(ctx, &tail_calls);
	return 0;
}

SEC("uprobe")
int session_walk(struct pt_regs *ctx)
{
	stay_on_own_stack(ctx, &session_tail_calls);
	return !capture(ctx, &session_tail_calls);
}

/* Captures the stack as the last step of an entry program. Returns only if the tail call fails. */
static __always_inline void stack__tail_capture(struct pt_regs *ctx, const struct entry *entry,
						struct thread_state *thread)
{
	thread->site = 0;
	bpf_tail_call(ctx, entry->tail_calls, MEMLEAK_TAIL_WALK);
}

/*
 * Captures the stack of an untracked call for its -tt event; returns only if the tail call fails.
 */
static __always_inline void stack__tail_capture_event(struct pt_regs *ctx,
						      const struct entry *entry,
						      struct thread_state *thread)
{
	if (!config.trace_stacks)
		return;
	thread->stack = 0;
	bpf_tail_call(ctx, entry->tail_calls, MEMLEAK_TAIL_EVENT);
}

/* Sends the event of a free, with its stack if -tt is given. */
static __always_inline void stack__send_free(struct pt_regs *ctx, const struct entry *entry,
					     struct thread_state *thread, __u64 addr, __u64 size)
{
	if (config.trace_stacks) {
		thread->free_addr = addr;
		thread->free_size = size;
		bpf_tail_call(ctx, entry->tail_calls, MEMLEAK_TAIL_EVENT);
		thread->free_addr = 0;
	}
	emit_event(thread, MEMLEAK_EVENT_FREE, thread->free_function, addr, size, 0);
}

#endif
