// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports the registers of each thread of a process, and whether the thread is asleep, without
 * stopping it: a sleeping thread's registers are on its kernel stack. If the iterator is read
 * twice, the counts of context switches show which threads ran in between. There may be only one
 * reader at a time.
 */
#include "bpf/proof/query.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	struct memleak_thread_record record;
	char vectors[MEMLEAK_VECTOR_BYTES];
} buffer;

static __always_inline __u64 switches_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

/* Maximum number of ancestors searched. */
#define MAX_ANCESTORS 64

/* Returns the process that will adopt the children of a task's process when it ends. */
static __always_inline struct task_struct *reaper_of(struct task_struct *task)
{
	struct task_struct *ancestor = BPF_CORE_READ(task, real_parent);
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	void *numbers = (void *)pid + bpf_core_field_offset(pid->numbers);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid *number = numbers + level * bpf_core_type_size(struct upid);

	if (!BPF_CORE_READ_BITFIELD_PROBED(task->signal, has_child_subreaper))
		return BPF_CORE_READ(number, ns, child_reaper);
	for (int i = 0; i < MAX_ANCESTORS && ancestor; i++) {
		struct signal_struct *signal = BPF_CORE_READ(ancestor, signal);

		if (BPF_CORE_READ(ancestor, thread_pid, level) != level)
			break;
		if (BPF_CORE_READ_BITFIELD_PROBED(signal, is_child_subreaper))
			return ancestor;
		ancestor = BPF_CORE_READ(ancestor, real_parent);
	}
	return BPF_CORE_READ(number, ns, child_reaper);
}

static __always_inline void describe(struct task_struct *task, struct memleak_thread_record *record)
{
	__u64 before = switches_of(task);

	record->tid = number_of(BPF_CORE_READ(task, thread_pid), BPF_CORE_READ(task, pid));
	record->thread_cnt = BPF_CORE_READ(task, signal, nr_threads);
	record->sequences = task_rseq(task);
	record->flags = 0;
	if (BPF_CORE_READ(task, exit_state) || !BPF_CORE_READ(task, mm))
		record->flags |= MEMLEAK_THREAD_ENDED;
	if (task_state(task) && !task_on_cpu(task))
		record->flags |= MEMLEAK_THREAD_ASLEEP;
	if (BPF_CORE_READ(task, ptraced.next) !=
	    (void *)__builtin_preserve_access_index(&task->ptraced))
		record->flags |= MEMLEAK_THREAD_TRACES;
	if (arch_thread_registers(task, record->registers))
		record->flags |= MEMLEAK_THREAD_KNOWN;
	record->vector_bytes = arch_thread_vectors(task, query.vector_bytes, buffer.vectors);
	record->switches = switches_of(task);
	if (record->switches != before)
		record->flags &= ~MEMLEAK_THREAD_ASLEEP;
	record->reaper = process_number(reaper_of(task));
}

SEC("iter/task")
int record_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 bytes;

	if (!task || process_number(task) != query.tgid)
		return 0;
	describe(task, &buffer.record);
	bytes = buffer.record.vector_bytes & (MEMLEAK_VECTOR_BYTES - 8);
	buffer.record.bytes = sizeof(buffer.record) + bytes;
	bpf_seq_write(ctx->meta->seq, &buffer, sizeof(buffer.record) + bytes);
	return 0;
}
