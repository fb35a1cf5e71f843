/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Determines the traced process for which the kernel allocates. An allocation in an interrupt
 * belongs to no process.
 */
#ifndef BPF_KERNEL_TP_CONTEXT_BPF_H
#define BPF_KERNEL_TP_CONTEXT_BPF_H

#include "bpf/kernel.h"
#include "bpf/pids.bpf.h"
#include "bpf/track.bpf.h"

const volatile struct memleak_kernel_config kernel_config;

/*
 * The traced processes, if kernel_config.by_process is set. The key is the tgid in memleak's pid
 * namespace.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_target);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} events SEC(".maps");

enum interrupt_level { LEVEL_TASK, LEVEL_SOFTIRQ, LEVEL_HARDIRQ, LEVEL_NMI, LEVEL_CNT };

struct comm_words {
	__u64 words[MEMLEAK_COMM_SIZE / sizeof(__u64)];
};

static __always_inline __u32 parent_tgid(void)
{
	struct task_struct *task;

	if (HAS_TASK_BTF && !config.pid_namespace)
		return ((struct task_struct *)bpf_get_current_task_btf())->real_parent->tgid;
	task = (void *)bpf_get_current_task();
	return process_number(BPF_CORE_READ(task, real_parent));
}

/* Returns the first eight bytes of the parent's name. */
static __always_inline __u64 parent_name(void)
{
	struct task_struct *task;
	__u64 ret = 0;

	if (HAS_TASK_BTF)
		return *(__u64 *)((struct task_struct *)bpf_get_current_task_btf())
				->real_parent->comm;
	task = (void *)bpf_get_current_task();
	task = BPF_CORE_READ(task, real_parent);
	bpf_core_read(&ret, sizeof(ret), &task->comm);
	return ret;
}

static __always_inline struct comm_words current_comm(void)
{
	struct comm_words ret = {0};
	const __u64 *comm;

	if (HAS_TASK_BTF) {
		comm = (void *)((struct task_struct *)bpf_get_current_task_btf())->comm;
		barrier_var(comm); /* makes the compiler load both words from one address */
		ret.words[0] = comm[0];
		ret.words[1] = comm[1];
	} else {
		bpf_get_current_comm(&ret, sizeof(ret));
	}
	return ret;
}

/*
 * Bits of preempt_count, at the same places in all kernels with BTF. While a task has softirqs
 * disabled, preempt_count is higher by 0x200, which leaves SOFTIRQ_BIT unchanged.
 */
#define SOFTIRQ_BIT 0x100
#define HARDIRQ_BITS 0xf0000
#define NMI_BITS 0xf00000

/*
 * Returns preempt_count. On aarch64 it is in the task. On x86-64 it is a percpu variable, whose
 * address only some kernels reveal. The task's run queue is a percpu variable, too, and BTF or
 * /proc/kallsyms gives the distance between the two variables.
 */
static __always_inline __u32 preempt_count(void)
{
	struct task_struct *task;
	__u32 cnt = 0;
	void *rq;

	if (HAS_TASK_BTF) {
		task = (void *)bpf_get_current_task_btf();
		if (bpf_core_field_exists(task->thread_info.preempt.count))
			return task->thread_info.preempt.count;
		rq = task->se.cfs_rq->rq;
	} else {
		task = (void *)bpf_get_current_task();
		if (bpf_core_field_exists(task->thread_info.preempt.count))
			return BPF_CORE_READ(task, thread_info.preempt.count);
		rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	}
	if (kernel_config.preempt_count_at)
		bpf_probe_read_kernel(&cnt, sizeof(cnt), rq + kernel_config.preempt_count_at);
	return cnt;
}

static __always_inline __u32 interrupt_level(void)
{
	__u32 cnt = preempt_count();

	if (cnt & NMI_BITS)
		return LEVEL_NMI;
	if (cnt & HARDIRQ_BITS)
		return LEVEL_HARDIRQ;
	return cnt & SOFTIRQ_BIT ? LEVEL_SOFTIRQ : LEVEL_TASK;
}

#define NAME_WORD(a, b, c, d, e, f, g, h)                                                          \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)

/*
 * True for a process of any memleak instance. The tracer and the starter of helpers are recognised
 * by their own names, and helpers by their parent's name.
 */
static __always_inline bool is_some_memleak(void)
{
	const __u64 plain = NAME_WORD('m', 'e', 'm', 'l', 'e', 'a', 'k', '\0');
	const __u64 tracer = NAME_WORD('m', 'e', 'm', 'l', 'e', 'a', 'k', ' ');
	const __u64 starter = NAME_WORD('h', 'e', 'l', 'p', 'e', 'r', ' ', 's');
	__u64 name = current_comm().words[0];

	return name == plain || name == tracer || name == starter || parent_name() == starter;
}

/* True for a process of this or another memleak instance, including the helpers. */
static __always_inline bool is_own(__u32 tgid)
{
	if (is_some_memleak())
		return true;
	if (tgid == kernel_config.own_tgid || tgid == kernel_config.starter_tgid)
		return true;
	return parent_tgid() == kernel_config.starter_tgid;
}

/* The process and interrupt level of an allocation. */
struct requester {
	enum interrupt_level level;
	__u32 image; /* image of the process if only target processes are traced, else 0 */
	__u32 tgid;
	__u32 tid; /* the tid or tgid stored in blocks */
};

/*
 * True if allocations of the current context are traced; fills in ret. An interrupt belongs to no
 * process, whichever task it has interrupted. With target processes, the cheapest check is first,
 * because most processes are not targets.
 */
static __always_inline bool is_traced(struct requester *ret)
{
	__u64 pid_tgid = current_pids();
	struct memleak_target *target;

	if (!tracking)
		return false;
	ret->tgid = pid_tgid >> 32;
	ret->tid = kernel_config.by_thread ? (__u32)pid_tgid : ret->tgid;
	ret->image = 0;
	if (!kernel_config.by_process) {
		ret->level = interrupt_level();
		return ret->level != LEVEL_TASK || !ret->tgid || !is_own(ret->tgid);
	}
	target = bpf_map_lookup_elem(&targets, &ret->tgid);
	if (!target)
		return false;
	ret->image = target->image;
	ret->level = interrupt_level();
	return ret->level == LEVEL_TASK;
}

/*
 * Countdowns for --sample-bytes, one for each CPU and interrupt level, because an interrupt may
 * occur between the read and the write of a countdown. If a program preempts another one at the
 * same level, both still choose correctly, but one subtraction is lost.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LEVEL_CNT);
	__type(key, __u32);
	__type(value, __u64);
} countdowns SEC(".maps");

static __always_inline __u64 *countdown(__u32 level)
{
	return config.sample_bytes ? bpf_map_lookup_elem(&countdowns, &level) : NULL;
}

static __always_inline void emit_event(__u32 type, __u32 function, __u64 addr, __u64 size,
				       __u64 stack)
{
	struct memleak_event *event;
	__u64 pid_tgid;

	if (!config.trace_events || !tracking)
		return;
	pid_tgid = current_pids();
	if (is_own(pid_tgid >> 32))
		return;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count(MEMLEAK_LOST_EVENTS, 1);
		return;
	}
	event->type = type;
	event->image = 0;
	event->tgid = pid_tgid >> 32;
	event->tid = pid_tgid;
	event->time_ns = bpf_ktime_get_ns();
	event->function = function;
	event->addr = addr;
	event->size = size;
	event->stack = stack;
	bpf_get_current_comm(event->comm, sizeof(event->comm));
	bpf_ringbuf_submit(event, 0);
}

#endif
