// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports the registers of threads that end with their process. Each thread reports itself, while
 * its user registers are still on its kernel stack. Its vector registers are those saved at its
 * last context switch.
 */
#include "bpf/proof/query.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct ending {
	struct memleak_thread_record record;
	char vectors[MEMLEAK_VECTOR_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ending);
} buffers SEC(".maps");

/* Room for a thousand threads with AVX-512 registers. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} endings SEC(".maps");

volatile __u64 dropped_cnt;

SEC("raw_tp/sched_process_exit")
int record_ending(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task =
		HAS_TASK_BTF ? (void *)bpf_get_current_task_btf() : (void *)bpf_get_current_task();
	__u32 zero = 0, bytes;
	struct ending *ending;

	if (process_number(task) != query.tgid || !task_process_ends(task))
		return 0;
	ending = bpf_map_lookup_elem(&buffers, &zero);
	if (!ending)
		return 0;
	ending->record.tid = number_of(BPF_CORE_READ(task, thread_pid), BPF_CORE_READ(task, pid));
	ending->record.flags = MEMLEAK_THREAD_ASLEEP;
	if (arch_thread_registers(task, ending->record.registers))
		ending->record.flags |= MEMLEAK_THREAD_KNOWN;
	ending->record.vector_bytes =
		arch_thread_vectors(task, query.vector_bytes, ending->vectors);
	bytes = ending->record.vector_bytes & (MEMLEAK_VECTOR_BYTES - 8);
	ending->record.bytes = sizeof(ending->record) + bytes;
	if (bpf_ringbuf_output(&endings, ending, sizeof(ending->record) + bytes, 0))
		__sync_fetch_and_add(&dropped_cnt, 1);
	return 0;
}
