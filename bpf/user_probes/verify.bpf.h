/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --verify-unwind: sends some of the walked stacks along with the registers and the memory that
 * they were found in, for another unwinder to walk them again.
 */
#ifndef VERIFY_BPF_H
#define VERIFY_BPF_H

#include "bpf/user_probes/thread.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} unwind_samples SEC(".maps");

/* How many were sent. */
__u64 unwind_samples_cnt;

static __always_inline void copy_memory(struct unwind_copied_range *range, __u8 *bytes,
					__u32 piece_cnt, __u64 addr)
{
	range->start = addr & ~(UNWIND_COPY_PIECE - 1ULL);
	range->bytes = piece_cnt * UNWIND_COPY_PIECE;
	for (__u32 i = 0; i < UNWIND_COPY_PIECES / 64; i++)
		range->present[i] = 0;
	for (__u32 i = 0; i < piece_cnt; i++) {
		long err = bpf_probe_read_user(&bytes[i * UNWIND_COPY_PIECE], UNWIND_COPY_PIECE,
					       (void *)(range->start + i * UNWIND_COPY_PIECE));

		/* No branches: else clang enters the loop in its middle, which older verifiers
		 * do not take. */
		barrier_var(err);
		range->present[i / 64] |= (~(__u64)err >> 63) << i % 64;
	}
}

/* Calls whose return address a return probe has taken. */
static __always_inline void copy_calls(struct unwind_copy *copy)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct return_instance *call;
	__u32 i = 0;

	copy->trampoline = return_trampoline();
	copy->call_cnt = 0;
	if (!bpf_core_field_exists(struct return_instance, orig_ret_vaddr))
		return;
	call = BPF_CORE_READ(task, utask, return_instances);
	for (; i < UNWIND_COPY_CALLS && call; i++) {
		copy->calls[i].slot = BPF_CORE_READ(call, stack);
		copy->calls[i].return_address = BPF_CORE_READ(call, orig_ret_vaddr);
		call = BPF_CORE_READ(call, next);
	}
	copy->call_cnt = i;
}

/* Those that find the ring full are not missed: others come. */
static __always_inline void send_sample(struct pt_regs *ctx, struct walk *walk,
					struct thread_state *thread)
{
	struct memleak_unwind_sample *sample;
	struct unwind_copy *copy;

	if (unwind_samples_cnt >= config.verify_unwind)
		return;
	sample = bpf_ringbuf_reserve(&unwind_samples, sizeof(*sample), 0);
	if (!sample)
		return;
	__sync_fetch_and_add(&unwind_samples_cnt, 1);
	sample->image = walk->image;
	sample->generation = walk->generation;
	sample->frame_cnt = walk->frame_cnt;
	sample->end = walk->end;
	sample->unknown = walk->unknown;
	bpf_probe_read_kernel(sample->frames, sizeof(sample->frames), &walk->stack.words[1]);
	copy = &sample->copy;
	copy->pc = arch_code_address(thread->call.return_address);
	arch_copy_registers(ctx, copy);
	copy_calls(copy);
	copy_memory(&copy->stack, copy->stack_bytes, UNWIND_COPY_PIECES, PT_REGS_SP(ctx));
	copy->other.bytes = 0;
	if (walk->interrupted)
		copy_memory(&copy->other, copy->other_bytes,
			    UNWIND_COPY_OTHER_BYTES / UNWIND_COPY_PIECE, walk->interrupted);
	bpf_ringbuf_submit(sample, 0);
}

#endif
