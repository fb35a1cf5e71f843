/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user stack at the entry of an allocator function, and the site that it makes. Nothing of
 * ours is on the stack then: no return probe is pending for this call.
 *
 * Entry programs end with a tail call to a program that walks, so that each of them is small and
 * the walk is verified once. There are two, of which the loader takes one: with scratch memory of
 * the thread's own, which a preempted walk needs, or of the CPU's, on kernels that neither have
 * that nor preempt programs.
 */
#ifndef STACK_BPF_H
#define STACK_BPF_H

#include "bpf/user_probes/recall.bpf.h"
#include "bpf/user_probes/ring.bpf.h"
#include "bpf/user_probes/verify.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} walkers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct walk);
} walk_of_task SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walk);
} walk_of_cpu SEC(".maps");

/* The last thing that an entry program does: returns only if it fails. */
static __always_inline void stack__capture(struct pt_regs *ctx, struct thread_state *thread)
{
	thread->site = 0;
	bpf_tail_call(ctx, &walkers, 0);
}

/* Unknown code may have been loaded just now: has the loader look, but not too often. */
static __always_inline void tell_of_code(struct walk *walk)
{
	struct memleak_target *target = bpf_map_lookup_elem(&targets, &walk->tgid);
	__u64 now = bpf_ktime_get_ns();
	struct memleak_record *record;

	if (!target || now - target->code_told_ns < CODE_TOLD_NS)
		return;
	target->code_told_ns = now;
	record = record__reserve(MEMLEAK_REC_CODE, walk->image);
	if (!record)
		return;
	record->addr = walk->unknown;
	bpf_ringbuf_submit(record, 0);
}

/* What has nothing outstanding can leave the table before it is full. */
static __always_inline void tell_of_stacks(struct walk *walk)
{
	struct memleak_record *record;

	if (stack_watch.told || stack_watch.stored < stack_watch.limit)
		return;
	stack_watch.told = 1;
	record = record__reserve(MEMLEAK_REC_STACKS, walk->image);
	if (record)
		bpf_ringbuf_submit(record, 0);
}

static __always_inline void walk__store(struct pt_regs *ctx, struct walk *walk,
					struct thread_state *thread)
{
	walk__finish(walk);
	walk__remember(walk);
	if (walk->unknown)
		tell_of_code(walk);
	if (config.verify_unwind)
		send_sample(ctx, walk, thread);
	if (!site__get(&walk->stack, thread->image, thread->kind, &thread->site))
		thread->chosen = false;
	tell_of_stacks(walk);
}

/* A repaired frame takes two steps. */
#define STEPS_MAX (2 * MEMLEAK_MAX_STACK_DEPTH + 1)

/* Not static: such functions are verified by themselves, whatever they are given. */
__noinline int walk_step_of_task(struct walk *walk)
{
	return !walk || walk__step(walk);
}

__noinline int walk_recall_of_task(struct walk *walk)
{
	return walk && walk__recall(walk);
}

SEC("uprobe")
int walk_with_task(struct pt_regs *ctx)
{
	struct thread_state *thread = thread__find();
	struct walk *walk;

	if (!thread)
		return 0;
	walk = bpf_task_storage_get(&walk_of_task, bpf_get_current_task_btf(), NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!walk) {
		count(MEMLEAK_LOST_THREADS_FULL, 1);
		thread->chosen = false;
		return 0;
	}
	walk__begin(walk, ctx, thread->image, thread->unloads, thread->call.return_address);
	if (walk_recall_of_task(walk) && walk__find_site(walk, thread))
		return 0;
	for (int i = 0; i < STEPS_MAX; i++)
		if (walk_step_of_task(walk))
			break;
	walk__store(ctx, walk, thread);
	return 0;
}

/* Where such functions take only numbers, it finds its memory itself. */
__noinline int walk_step_of_cpu(__u32 cpu_entry)
{
	struct walk *walk = bpf_map_lookup_elem(&walk_of_cpu, &cpu_entry);

	return !walk || walk__step(walk);
}

__noinline int walk_recall_of_cpu(__u32 cpu_entry)
{
	struct walk *walk = bpf_map_lookup_elem(&walk_of_cpu, &cpu_entry);

	return walk && walk__recall(walk);
}

SEC("uprobe")
int walk_with_cpu(struct pt_regs *ctx)
{
	struct thread_state *thread = thread__find();
	__u32 zero = 0;
	struct walk *walk = bpf_map_lookup_elem(&walk_of_cpu, &zero);

	if (!thread || !walk)
		return 0;
	walk__begin(walk, ctx, thread->image, thread->unloads, thread->call.return_address);
	if (walk_recall_of_cpu(zero) && walk__find_site(walk, thread))
		return 0;
	for (int i = 0; i < STEPS_MAX; i++)
		if (walk_step_of_cpu(zero))
			break;
	walk__store(ctx, walk, thread);
	return 0;
}

#endif
