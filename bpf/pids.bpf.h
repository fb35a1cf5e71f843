/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pids in memleak's own pid namespace. In the initial namespace, the usual case, these pids are the
 * kernel's own, and the verifier removes the code that translates them.
 */
#ifndef BPF_PIDS_BPF_H
#define BPF_PIDS_BPF_H

#include "bpf/pid_number.bpf.h"
#include "bpf/track.bpf.h"

static __always_inline __u32 number_here(struct pid *pid)
{
	return number_in(pid, config.pid_namespace);
}

/* Returns the tgid of a task. */
static __always_inline __u32 process_number(struct task_struct *task)
{
	if (!config.pid_namespace)
		return BPF_CORE_READ(task, tgid);
	return number_here(BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]));
}

/* Not static, so that programs do not contain a copy for each call. */
__noinline __u64 translated_pids(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return (__u64)process_number(task) << 32 | number_here(BPF_CORE_READ(task, thread_pid));
}

/* Returns the tgid in the upper half and the tid in the lower half. */
static __always_inline __u64 current_pids(void)
{
	return config.pid_namespace ? translated_pids() : bpf_get_current_pid_tgid();
}

#endif
