/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel types that the BPF programs use, with CO-RE relocations, and one accessor function for
 * each difference between kernels.
 */
#ifndef BPF_COMPAT_BPF_H
#define BPF_COMPAT_BPF_H

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define EEXIST 17
#define E2BIG 7

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

/*
 * Vector registers of x86-64, in XSAVE format. On the oldest kernels, in thread_struct.fpu; later,
 * thread_struct.fpu has a pointer to them; on the newest, struct fpu, with this pointer, follows
 * the task_struct in memory.
 */
union fpregs_state {
	unsigned int first;
};

struct fpstate {
	unsigned int size;
	union fpregs_state regs;
};

struct fpu {
	struct fpstate *fpstate;
};

struct fpu___inner {
	union fpregs_state state;
};

struct thread_struct {
	/* x86-64 */
	unsigned long fsbase;
	unsigned long gsbase;
	struct fpu fpu;
	/* aarch64 */
	struct {
		unsigned long tp_value;
		struct {
			unsigned int first;
		} fpsimd_state;
	} uw;
	void *sve_state; /* SVE registers; NULL if the thread uses no SVE */
	unsigned int vl[1];
};

struct thread_struct___one_length {
	unsigned int sve_vl;
};

struct mm_struct {
	unsigned long start_stack;
	struct uprobes_state uprobes_state;
};

struct cfs_rq {
	struct rq *rq; /* the CPU's run queue */
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
};

struct thread_info {
	struct {
		__u32 count;
	} preempt;
};

/*
 * A call whose return address a return probe has replaced: its address on the stack (slot; see
 * arch.bpf.h), and the original return address.
 */
struct return_instance {
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	struct return_instance *next; /* the next call outwards; NULL at the end */
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct kernfs_node {
	__u64 id;
	const char *name;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_subsys_state *subsys[1];
	struct cgroup_root *root;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct pid_namespace {
	struct {
		unsigned int inum;
	} ns;
	struct task_struct *child_reaper;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[];
};

enum pid_type {
	PIDTYPE_PID,
	PIDTYPE_TGID,
	PIDTYPE_CNT,
};

struct signal_struct {
	struct {
		int counter;
	} live;
	struct pid *pids[PIDTYPE_CNT];
	int nr_threads;
	struct mm_struct *oom_mm;
	unsigned int flags;
	unsigned int is_child_subreaper : 1;
	unsigned int has_child_subreaper : 1;
};

struct task_struct {
	__u64 self_exec_id;
	unsigned int __state;
	void *stack;
	int on_cpu;
	int exit_state;
	int exit_signal;
	unsigned int ptrace;
	int pid;
	int tgid;
	unsigned long nvcsw;
	unsigned long nivcsw;
	struct {
		void *next; /* list of tracees; points to itself if it is empty */
	} ptraced;
	struct thread_struct thread;
	struct pid *thread_pid;
	struct signal_struct *signal;
	int exit_code;
	char comm[16];
	struct thread_info thread_info;
	struct sched_entity se;
	struct task_struct *real_parent;
	struct mm_struct *mm;
	struct css_set *cgroups;
	struct uprobe_task *utask;
};

struct task_struct___old {
	long state;
};

struct task_struct___rseq {
	void *rseq;
};

struct task_struct___rseq_data {
	struct {
		void *usrptr;
	} rseq;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task; /* the current task of the iteration; NULL after the last one */
};

struct kmem_cache {
	const char *name;
	unsigned int size;
	unsigned int flags;
};

/* The fields of a slab page that are used here. */
struct slab {
	struct kmem_cache *slab_cache;
};

struct page {
	unsigned long
		compound_head; /* if bit 0 is set, the other bits point to the block's first page */
	struct kmem_cache *slab_cache;
};

#pragma clang attribute pop

/*
 * True if plain loads can read members of the current task (in tracepoint programs, since Linux
 * 5.11). Otherwise each read needs a helper call.
 */
#define HAS_TASK_BTF bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)

/* Returns the task's state; 0 if the task is running or runnable. */
static __always_inline long task_state(struct task_struct *task)
{
	struct task_struct___old *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return BPF_CORE_READ(old, state);
}

/*
 * Bits of signal_struct.flags for a process that is ending; only older kernels have
 * SIGNAL_GROUP_COREDUMP.
 */
#define SIGNAL_GROUP_EXIT 4
#define SIGNAL_GROUP_COREDUMP 8

/* True if the task's whole process is ending, not just this thread. */
static __always_inline bool task_process_ends(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, flags) & (SIGNAL_GROUP_EXIT | SIGNAL_GROUP_COREDUMP);
}

/* Returns the address of the thread's struct rseq; 0 if the thread has none, -1 if unknown. */
static __always_inline __u64 task_rseq(struct task_struct *task)
{
	struct task_struct___rseq *pointer = (void *)task;
	struct task_struct___rseq_data *data = (void *)task;

	if (bpf_core_field_exists(pointer->rseq))
		return (__u64)BPF_CORE_READ(pointer, rseq);
	if (bpf_core_field_exists(data->rseq.usrptr))
		return (__u64)BPF_CORE_READ(data, rseq.usrptr);
	return (__u64)-1;
}

/*
 * True if the task is running on a CPU. Uniprocessor kernels lack the field on_cpu. It is an int in
 * older kernels and a byte in newer ones.
 */
static __always_inline bool task_on_cpu(struct task_struct *task)
{
	__u64 on_cpu = 0;

	if (!bpf_core_field_exists(task->on_cpu))
		return false;
	bpf_core_read(&on_cpu, bpf_core_field_size(task->on_cpu), &task->on_cpu);
	return on_cpu;
}

/*
 * Returns the address of the user registers of a thread that is in the kernel. The registers are at
 * the end of its kernel stack. Without bpf_task_pt_regs(), their address follows from the size of
 * the stack (`stack_bytes`) and the size of the registers (`bytes`).
 */
static __always_inline __u64 task_user_registers(struct task_struct *task, __u64 stack_bytes,
						 __u64 bytes)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return bpf_task_pt_regs(task);
	return (__u64)BPF_CORE_READ(task, stack) + stack_bytes - bytes;
}

/* Bit numbers in kmem_cache.flags, for kernels without this enum; else BTF gives the numbers. */
enum _slab_flag_bits {
	_SLAB_RECLAIM_ACCOUNT = 17,
};

/* True if the kernel reclaims objects of the cache when it needs memory. */
static __always_inline bool cache_is_reclaimable(struct kmem_cache *cache)
{
	__u32 bit = _SLAB_RECLAIM_ACCOUNT;

	if (bpf_core_enum_value_exists(enum _slab_flag_bits, _SLAB_RECLAIM_ACCOUNT))
		bit = bpf_core_enum_value(enum _slab_flag_bits, _SLAB_RECLAIM_ACCOUNT);
	return BPF_CORE_READ(cache, flags) >> bit & 1;
}

/*
 * Returns the address of the return trampoline, which return probes put in place of return
 * addresses: the start of the process's [uprobes] page. Returns 0 if the process has no such page
 * yet.
 */
static __always_inline __u64 return_trampoline(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
}

/* Returns the user stack pointer with which the process's current program started. */
static __always_inline __u64 first_stack_pointer(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, mm, start_stack);
}

#endif
