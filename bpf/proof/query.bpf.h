/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the process on which the programs in bpf/proof/ report. */
#ifndef BPF_PROOF_QUERY_BPF_H
#define BPF_PROOF_QUERY_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/pid_number.bpf.h"

volatile struct memleak_thread_query query;

static __always_inline __u32 number_of(struct pid *pid, __u32 number)
{
	return query.pid_namespace ? number_in(pid, query.pid_namespace) : number;
}

static __always_inline __u32 process_number(struct task_struct *task)
{
	return number_of(BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]),
			 BPF_CORE_READ(task, tgid));
}

#endif
