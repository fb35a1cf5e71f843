/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows the life of processes: keeps track of which processes are targets, and which image each
 * target runs. A process that becomes a target at its fork or exec is added before it allocates.
 *
 * Newer kernels skip a BPF program if a preempted task on the same CPU is running it. So each event
 * has two BPF programs. The second program skips what the first has done already, and counts the
 * events that the first has missed.
 */
#ifndef BPF_USER_PROBES_PROCESSES_BPF_H
#define BPF_USER_PROBES_PROCESSES_BPF_H

#include "bpf/user_probes/ring.bpf.h"
#include "bpf/user_probes/target_filter.bpf.h"

#define FIRST_BITS 10

#define CLONE_VM 0x100
#define CLONE_VFORK 0x4000

/*
 * Events that the first program has seen and the second program has not. An event is identified by
 * the address of its arguments; a hash of this address is its index.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << FIRST_BITS);
	__type(key, __u32);
	__type(value, __u64);
} first_seen SEC(".maps");

static __always_inline void first__saw(const void *ctx)
{
	__u32 index = place__hash(ctx, FIRST_BITS);
	__u64 *seen = bpf_map_lookup_elem(&first_seen, &index);

	if (seen)
		*seen = place__of(ctx);
}

static __always_inline void second__sees(const void *ctx)
{
	__u32 index = place__hash(ctx, FIRST_BITS);
	__u64 *seen = bpf_map_lookup_elem(&first_seen, &index);

	if (!seen)
		return;
	if (*seen == place__of(ctx))
		*seen = 0;
	else
		count(MEMLEAK_STAT_RESCUED, 1);
}

/*
 * For kernels whose atomic additions return nothing: one image counter per CPU. Image numbers then
 * have the CPU number in their low bits.
 */
#define IMAGE_CPU_BITS 10
#define IMAGE_CPUS (1U << IMAGE_CPU_BITS)

__u32 images;
__u32 images_by_cpu[IMAGE_CPUS];

/* Returns a new image number. A number recurs only after a million new images or more. */
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

static __always_inline void send_process(__u32 type, __u32 tgid, __u32 image, __u64 addr, __u64 len)
{
	struct memleak_record *record = record__reserve(type, image);

	if (!record)
		return;
	record->tgid = tgid;
	record->addr = addr;
	record->len = len;
	bpf_ringbuf_submit(record, 0);
}

/*
 * Adds a target. If the first program fails to add it, the second program tries again but does not
 * count another failure.
 */
static __always_inline bool target__add(__u32 tgid, const struct memleak_target *target,
					bool second)
{
	if (!bpf_map_update_elem(&targets, &tgid, target, BPF_ANY))
		return true;
	if (!second)
		count(MEMLEAK_LOST_PROCESSES, 1);
	return false;
}

/* Returns the kernel's exec count of the thread. A forked thread begins with its parent's count. */
static __always_inline __u64 task__exec_cnt(struct task_struct *task)
{
	return BPF_CORE_READ(task, self_exec_id);
}

/* Makes a process a target because it matches the target filter. */
static __always_inline void target__join(__u32 tgid, struct task_struct *task, bool second)
{
	struct memleak_target target = {.image = image__new(), .exec_cnt = task__exec_cnt(task)};

	if (target__add(tgid, &target, second))
		send_process(MEMLEAK_REC_NEW, tgid, target.image, 0, 0);
}

/* death: `len` of the record, as described at MEMLEAK_REC_END */
static __always_inline void target__leave(__u32 type, __u32 tgid,
					  const struct memleak_target *target, __u32 death)
{
	__u32 image = target->shares_memory ? 0 : target->image, unloads = target->unloads;

	bpf_map_delete_elem(&targets, &tgid);
	__sync_fetch_and_add(&targets_generation, 1);
	if (!image)
		return;
	send_process(type, tgid, image, unloads, death);
}

/*
 * Returns the image whose mappings a child of the target begins with: the target's own image, or
 * target->base until the mappings of the target's image have been read.
 */
static __always_inline __u32 target__base(const struct memleak_target *target)
{
	return !target->base || space__find(target->image) ? target->image : target->base;
}

/* Lets the child inherit the blocks that the parent has now. */
static __always_inline void target__inherit(struct memleak_target *child, __u32 parent, __u64 now)
{
	if (!children_inherit() || !image_refs__fork(parent, child->image, now))
		return;
	child->descendant = 1;
	__sync_fetch_and_add(&targets_generation, 1);
}

static __always_inline void send_fork(__u32 tgid, const struct memleak_target *target, __u32 parent,
				      __u64 now)
{
	struct memleak_record *record = record__reserve(MEMLEAK_REC_NEW, target->image);

	if (!record)
		return;
	record->tgid = tgid;
	record->addr = parent;
	record->len = target->descendant;
	record->time_ns = now;
	bpf_ringbuf_submit(record, 0);
}

/*
 * Makes a child a target. A child has copies of its parent's mappings, or it shares its parent's
 * memory until it executes a program. Calls of a child that shares memory count for its parent.
 */
static __always_inline void target__fork(const struct memleak_target *parent, __u64 clone_flags,
					 __u32 tgid, bool second)
{
	struct memleak_target target = {0};
	__u64 now = bpf_ktime_get_ns();

	if (parent && parent->image) {
		target.base = target__base(parent);
		target.unloads = parent->unloads;
		target.loader_state = parent->loader_state;
		target.shares_memory = (clone_flags & CLONE_VM) != 0;
		target.binding = config.bound ? MEMLEAK_SHARES_MEMORY : parent->binding;
		target.image = target.shares_memory ? parent->image : image__new();
		target.descendant = target.shares_memory && parent->descendant;
		if (!target.shares_memory)
			target__inherit(&target, parent->image, now);
	} else if (!parent) {
		target.image = image__new();
	}
	if (target__add(tgid, &target, second) && target.image && !target.shares_memory)
		send_fork(tgid, &target, parent ? parent->image : 0, now);
}

/*
 * Reports a child if children are not followed. A child that shares its parent's memory needs
 * probes, unless the parent waits for it (vfork): such a child soon executes a program. Of the
 * other children, only the first one of each target is reported.
 */
static __always_inline void send_child(struct memleak_target *target, __u32 child,
				       __u64 clone_flags)
{
	__u32 tgid = current_pids() >> 32;

	if ((clone_flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM) {
		send_process(MEMLEAK_REC_SHARER, tgid, target->image, child, 0);
	} else if (!target->has_forked) {
		target->has_forked = 1;
		send_process(MEMLEAK_REC_FORK, tgid, target->image, child, 0);
	}
}

/*
 * True if a tracer made the traced thread fork this child, for instance to get a picture of the
 * process's memory. The traced program does not know of such a child and does not wait for it.
 */
static __always_inline bool is_tracers(struct task_struct *child)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, ptrace) && !BPF_CORE_READ(child, exit_signal);
}

static __always_inline int on_fork(struct bpf_raw_tracepoint_args *ctx, bool second)
{
	__u32 tgid = current_pids() >> 32;
	struct memleak_target *target = bpf_map_lookup_elem(&targets, &tgid);
	struct task_struct *child = (void *)ctx->args[0];
	__u32 child_tgid = process_number(child);
	__u64 clone_flags = ctx->args[1];

	/* The pid is 0 if the child is not visible in memleak's pid namespace. */
	if (child_tgid == tgid || !child_tgid || is_tracers(child))
		return 0;
	if (second && bpf_map_lookup_elem(&targets, &child_tgid))
		return 0;
	if (target && (target_filter.follow || !target->image || clone_flags & CLONE_VM))
		target__fork(target, clone_flags, child_tgid, second);
	else if (target_filter.join && BPF_CORE_READ(child, mm) && target_filter__fits(child))
		target__fork(target, clone_flags, child_tgid, second);
	if (target && target->image && !target_filter.follow && !target_filter.join)
		send_child(target, child_tgid, clone_flags);
	return 0;
}

SEC("raw_tp/task_newtask")
int process_fork(struct bpf_raw_tracepoint_args *ctx)
{
	first__saw(ctx);
	return on_fork(ctx, false);
}

SEC("raw_tp/task_newtask")
int process_fork_second(struct bpf_raw_tracepoint_args *ctx)
{
	second__sees(ctx);
	return on_fork(ctx, true);
}

/* Drops the thread's marked calls: the old program's memory is gone. */
static __always_inline void thread__forget_calls(void)
{
	struct thread_state *thread = thread__find();

	if (!thread)
		return;
	thread->call.slot = 0;
	thread->freed.slot = 0;
	thread->suspended.call.slot = 0;
	thread->raised = 0;
	thread->overwritten = 0;
	thread->reports_all = false;
}

/* Gives a new image to a target that executes a program. */
static __always_inline void target__exec(struct memleak_target *target, __u32 tgid, __u32 tid,
					 __u64 exec_cnt)
{
	bool moved = tid != bpf_get_current_pid_tgid() >> 32;
	bool was_there = !target->shares_memory;
	__u32 old_image = target->image;
	struct memleak_record *record;

	target->exec_cnt = exec_cnt;
	target->image = image__new();
	target->base = 0;
	target->shares_memory = 0;
	target->descendant = 0;
	target->binding += moved;
	__sync_fetch_and_add(&targets_generation, 1);
	if (moved)
		thread__end(tid);
	thread__forget_calls();
	if (!was_there) {
		send_process(MEMLEAK_REC_NEW, tgid, target->image, 0, 0);
		return;
	}
	/*
	 * The record is reserved only here, so that one test for NULL suffices: older verifiers
	 * lose track of a reservation that is tested twice.
	 */
	record = record__reserve(MEMLEAK_REC_EXEC, old_image);
	if (!record)
		return;
	record->addr = target->image;
	record->len = moved;
	bpf_ringbuf_submit(record, 0);
}

/*
 * True if the process stays a target after exec. With --follow it always stays. With a target
 * filter it stays if the filter matches. Otherwise it stays unless it shares its parent's
 * memory.
 */
static __always_inline bool target__stays(const struct memleak_target *target,
					  struct task_struct *task)
{
	if (target_filter.follow)
		return true;
	return target_filter.join ? target_filter__fits(task) : !target->shares_memory;
}

static __always_inline int on_exec(struct bpf_raw_tracepoint_args *ctx, bool second)
{
	__u32 tgid = current_pids() >> 32;
	struct memleak_target *target = bpf_map_lookup_elem(&targets, &tgid);
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 exec_cnt = task__exec_cnt(task);

	if (target && (!target->image || target->exec_cnt == exec_cnt))
		return 0;
	if (target && target__stays(target, task))
		target__exec(target, tgid, ctx->args[1], exec_cnt);
	else if (target)
		target__leave(MEMLEAK_REC_NO_TARGET, tgid, target, 0);
	else if (tgid && target_filter.join && target_filter__fits(task))
		target__join(tgid, task, second);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int process_exec(struct bpf_raw_tracepoint_args *ctx)
{
	first__saw(ctx);
	return on_exec(ctx, false);
}

SEC("raw_tp/sched_process_exec")
int process_exec_second(struct bpf_raw_tracepoint_args *ctx)
{
	second__sees(ctx);
	return on_exec(ctx, true);
}

/* Returns what killed the process of an ending thread, as described at MEMLEAK_REC_END. */
static __always_inline __u32 death_of(struct task_struct *task)
{
	__u32 death = BPF_CORE_READ(task, exit_code) & MEMLEAK_KILLED_BY;

	return death | (BPF_CORE_READ(task, signal, oom_mm) ? MEMLEAK_KILLED_FOR_MEMORY : 0);
}

/*
 * Handles the end of a thread. The kernel has already subtracted the thread from signal->live. If
 * several threads end at the same time, each of them may find that signal->live is 0.
 */
static __always_inline int on_exit(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u32 tgid = current_pids() >> 32;
	struct memleak_target *target;

	thread__end(bpf_get_current_pid_tgid());
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (target && !BPF_CORE_READ(task, signal, live.counter))
		target__leave(MEMLEAK_REC_END, tgid, target, death_of(task));
	return 0;
}

SEC("raw_tp/sched_process_exit")
int thread_exit(struct bpf_raw_tracepoint_args *ctx)
{
	first__saw(ctx);
	return on_exit();
}

SEC("raw_tp/sched_process_exit")
int thread_exit_second(struct bpf_raw_tracepoint_args *ctx)
{
	second__sees(ctx);
	return on_exit();
}

/*
 * Handles the move of a process to another cgroup. The kernel may report a move even for a process
 * that has ended.
 */
static __always_inline int on_move(struct bpf_raw_tracepoint_args *ctx, bool second)
{
	struct task_struct *task = (void *)ctx->args[2];
	__u32 tgid = process_number(task);
	struct memleak_target *target = bpf_map_lookup_elem(&targets, &tgid);
	bool fits = target_filter__fits(task);

	if (tgid && fits && !target && BPF_CORE_READ(task, signal, live.counter))
		target__join(tgid, task, second);
	else if (!fits && target && target->image && !target_filter.follow)
		target__leave(MEMLEAK_REC_END, tgid, target, 0);
	return 0;
}

SEC("raw_tp/cgroup_attach_task")
int process_move(struct bpf_raw_tracepoint_args *ctx)
{
	first__saw(ctx);
	return on_move(ctx, false);
}

SEC("raw_tp/cgroup_attach_task")
int process_move_second(struct bpf_raw_tracepoint_args *ctx)
{
	second__sees(ctx);
	return on_move(ctx, true);
}

SEC("raw_tp/cgroup_mkdir")
int cgroup_made(struct bpf_raw_tracepoint_args *ctx)
{
	first__saw(ctx);
	return target_filter__on_mkdir(ctx);
}

SEC("raw_tp/cgroup_mkdir")
int cgroup_made_second(struct bpf_raw_tracepoint_args *ctx)
{
	second__sees(ctx);
	return target_filter__on_mkdir(ctx);
}

#endif
