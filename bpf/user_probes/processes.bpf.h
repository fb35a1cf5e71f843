/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of processes: which are targets from when to when, and which image they are. A process
 * that is made or executes a program is a target before it allocates anything.
 */
#ifndef PROCESSES_BPF_H
#define PROCESSES_BPF_H

#include "bpf/user_probes/members.bpf.h"
#include "bpf/user_probes/ring.bpf.h"

/* Of kernels that cannot return what they add to: by CPU, whose number is in the low bits. */
#define IMAGE_CPU_BITS 10
#define IMAGE_CPUS (1U << IMAGE_CPU_BITS)

__u32 images;
__u32 images_by_cpu[IMAGE_CPUS];

/* A new number. It comes again after a million programs or more, when those are long gone. */
static __always_inline __u32 image__new(void)
{
	__u32 cpu = bpf_get_smp_processor_id() % IMAGE_CPUS, image;

	if (config.exchange)
		image = __sync_fetch_and_add(&images, 1) + 1;
	else
		image = ++images_by_cpu[cpu] << IMAGE_CPU_BITS | cpu;
	image &= MEMLEAK_IMAGE_GIVEN - 1;
	return image ? image : 1;
}

static __always_inline void tell_of_process(__u32 type, __u32 tgid, __u32 image, __u64 addr)
{
	struct memleak_record *record = record__reserve(type, image);

	if (!record)
		return;
	record->tgid = tgid;
	record->addr = addr;
	bpf_ringbuf_submit(record, 0);
}

static __always_inline bool target__add(__u32 tgid, const struct memleak_target *target)
{
	if (!bpf_map_update_elem(&targets, &tgid, target, BPF_ANY))
		return true;
	count(MEMLEAK_LOST_PROCESSES, 1);
	return false;
}

/* One that fits joins. */
static __always_inline void target__join(__u32 tgid)
{
	struct memleak_target target = {.image = image__new()};

	if (target__add(tgid, &target))
		tell_of_process(MEMLEAK_REC_NEW, tgid, target.image, 0);
}

static __always_inline void target__leave(__u32 type, __u32 tgid,
					  const struct memleak_target *target)
{
	__u32 image = target->borrows ? 0 : target->image, unloads = target->unloads;

	bpf_map_delete_elem(&targets, &tgid);
	__sync_fetch_and_add(&targets_generation, 1);
	if (!image)
		return;
	estate__leave(image);
	tell_of_process(type, tgid, image, unloads);
}

/* The image whose mappings a child begins with. */
static __always_inline __u32 target__base(const struct memleak_target *target)
{
	return !target->base || space__find(target->image) ? target->image : target->base;
}

/* What the parent has now is the child's, too. */
static __always_inline void target__inherit(struct memleak_target *child, __u32 parent, __u64 now)
{
	if (!children_inherit() || !estate__fork(parent, child->image, now))
		return;
	child->heir = 1;
	__sync_fetch_and_add(&targets_generation, 1);
}

static __always_inline void tell_of_fork(__u32 tgid, const struct memleak_target *target,
					 __u32 parent, __u64 now)
{
	struct memleak_record *record = record__reserve(MEMLEAK_REC_NEW, target->image);

	if (!record)
		return;
	record->tgid = tgid;
	record->addr = parent;
	record->len = target->heir;
	record->time_ns = now;
	bpf_ringbuf_submit(record, 0);
}

/*
 * A child has copies of what its parent has mapped, or uses the very same until it executes a
 * program: then what it allocates and frees is the parent's.
 */
static __always_inline void target__fork(const struct memleak_target *parent,
					 struct task_struct *child, __u32 tgid)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct memleak_target target = {0};
	__u64 now = bpf_ktime_get_ns();

	if (parent && parent->image) {
		target.base = target__base(parent);
		target.unloads = parent->unloads;
		target.loader_state = parent->loader_state;
		target.borrows = BPF_CORE_READ(child, mm) == BPF_CORE_READ(task, mm);
		target.image = target.borrows ? parent->image : image__new();
		target.heir = target.borrows && parent->heir;
		if (!target.borrows)
			target__inherit(&target, parent->image, now);
	} else if (!parent) {
		target.image = image__new();
	}
	if (target__add(tgid, &target) && target.image && !target.borrows)
		tell_of_fork(tgid, &target, parent ? parent->image : 0, now);
}

/* Children that are not followed: the loader says so when there is one. */
static __always_inline void tell_of_child(struct memleak_target *target, __u32 child)
{
	__u32 tgid = current_pids() >> 32;

	if (!target || target->has_forked)
		return;
	target->has_forked = 1;
	tell_of_process(MEMLEAK_REC_FORK, tgid, target->image, child);
}

SEC("raw_tp/sched_process_fork")
int process_fork(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 tgid = current_pids() >> 32;
	struct memleak_target *target = bpf_map_lookup_elem(&targets, &tgid);
	struct task_struct *child = (void *)ctx->args[1];
	__u32 child_tgid = process_number(child);

	/* 0: of another namespace */
	if (child_tgid == tgid || !child_tgid)
		return 0;
	if (target && (members.follow || !target->image))
		target__fork(target, child, child_tgid);
	else if (members.join && BPF_CORE_READ(child, mm) && members__fit(child))
		target__fork(target, child, child_tgid);
	else if (!members.join)
		tell_of_child(target, child_tgid);
	return 0;
}

/* The blocks of the old program are gone with its memory. */
static __always_inline void thread__forget_calls(void)
{
	struct thread_state *thread = thread__find();

	if (!thread)
		return;
	thread->call.slot = 0;
	thread->freed.slot = 0;
	thread->overwritten = 0;
	thread->awaits_all = false;
}

/* A target executes a program: it is another image now. */
static __always_inline void target__exec(struct memleak_target *target, __u32 tgid, __u32 tid)
{
	bool moved = tid != bpf_get_current_pid_tgid() >> 32;
	bool was_there = !target->borrows;
	__u32 old_image = target->image;
	struct memleak_record *record;

	if (was_there)
		estate__leave(old_image);
	target->image = image__new();
	target->base = 0;
	target->borrows = 0;
	target->heir = 0;
	target->binding += moved;
	__sync_fetch_and_add(&targets_generation, 1);
	if (moved)
		thread__end(tid);
	thread__forget_calls();
	if (!was_there) {
		tell_of_process(MEMLEAK_REC_NEW, tgid, target->image, 0);
		return;
	}
	/* Last: older verifiers lose a reservation that is tested for NULL twice. */
	record = record__reserve(MEMLEAK_REC_EXEC, old_image);
	if (!record)
		return;
	record->addr = target->image;
	record->len = moved;
	bpf_ringbuf_submit(record, 0);
}

SEC("raw_tp/sched_process_exec")
int process_exec(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 tgid = current_pids() >> 32;
	struct memleak_target *target = bpf_map_lookup_elem(&targets, &tgid);
	struct task_struct *task = (void *)bpf_get_current_task();

	if (target && !target->image)
		return 0;
	if (target && (members.follow || !members.join || members__fit(task)))
		target__exec(target, tgid, ctx->args[1]);
	else if (target)
		target__leave(MEMLEAK_REC_LEFT, tgid, target);
	else if (tgid && members.join && members__fit(task))
		target__join(tgid);
	return 0;
}

/* Which the kernel has counted already: of several that end at once, all may find none left. */
SEC("raw_tp/sched_process_exit")
int thread_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u32 tgid = current_pids() >> 32;
	struct memleak_target *target;

	thread__end(bpf_get_current_pid_tgid());
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (target && !BPF_CORE_READ(task, signal, live.counter))
		target__leave(MEMLEAK_REC_END, tgid, target);
	return 0;
}

/* A process was moved to another cgroup; the kernel tells it of one that has ended, too. */
SEC("raw_tp/cgroup_attach_task")
int process_move(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[2];
	__u32 tgid = process_number(task);
	struct memleak_target *target = bpf_map_lookup_elem(&targets, &tgid);
	bool fits = members__fit(task);

	if (tgid && fits && !target && BPF_CORE_READ(task, signal, live.counter))
		target__join(tgid);
	else if (!fits && target && target->image && !members.follow)
		target__leave(MEMLEAK_REC_END, tgid, target);
	return 0;
}

#endif
