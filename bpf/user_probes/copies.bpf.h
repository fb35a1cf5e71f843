/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends copies of deferred stacks (registers and stack memory) to the loader, where libdwfl walks
 * them. Deferred stacks lead through code that has no unwind table yet.
 */
#ifndef BPF_USER_PROBES_COPIES_BPF_H
#define BPF_USER_PROBES_COPIES_BPF_H

#include "bpf/user_probes/thread.bpf.h"

/* Ring for copies of stacks; the loader sets its size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} stack_copies SEC(".maps");

volatile struct memleak_deferred_watch deferred_watch;

static __always_inline void copy_memory(struct unwind_copy *copy, __u32 piece_cnt, __u64 addr)
{
	struct unwind_copied_range *range = &copy->stack;

	range->start = addr & ~(UNWIND_COPY_PIECE - 1ULL);
	range->bytes = piece_cnt * UNWIND_COPY_PIECE;
	for (__u32 i = 0; i < UNWIND_COPY_PIECES / 64; i++)
		range->present[i] = 0;
	for (__u32 i = 0; i < piece_cnt; i++) {
		long err = bpf_probe_read_user(&copy->stack_bytes[i * UNWIND_COPY_PIECE],
					       UNWIND_COPY_PIECE,
					       (void *)(range->start + i * UNWIND_COPY_PIECE));

		/*
		 * Branch-free: otherwise clang makes code that enters the loop in its middle, which
		 * older verifiers reject.
		 */
		barrier_var(err);
		range->present[i / 64] |= (~(__u64)err >> 63) << i % 64;
	}
}

_Static_assert(sizeof(((struct unwind_copy *)0)->calls) <= WINDOW_BYTES, "fit in the window");

/*
 * Lists the calls whose return address a return probe has replaced, in the walk's window, which is
 * no longer needed. Returns their number. Not static, so that the verifier checks the loop once and
 * not for each size of a copy.
 */
__noinline int walk_list_calls(__u32 entry)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);
	struct unwind_copied_call *calls;
	struct return_instance *call;
	__u32 i = 0;

	if (!walk || !bpf_core_field_exists(struct return_instance, orig_ret_vaddr))
		return 0;
	walk->window_bytes = 0;
	calls = (void *)walk->window;
	call = BPF_CORE_READ(task, utask, return_instances);
	for (; i < UNWIND_COPY_CALLS && call; i++) {
		calls[i].slot = BPF_CORE_READ(call, stack);
		calls[i].return_address = BPF_CORE_READ(call, orig_ret_vaddr);
		call = BPF_CORE_READ(call, next);
	}
	return i;
}

static __always_inline void copy_calls(const struct walk *walk, struct unwind_copy *copy)
{
	copy->trampoline = return_trampoline();
	copy->call_cnt = walk_list_calls(walk->entry);
	bpf_probe_read_kernel(copy->calls, sizeof(copy->calls), walk->window);
}

/*
 * Sizes, in bytes, of the stack memory sent with a deferred stack. The smallest size that covers
 * the stack is used, or else the largest. At program start, many stacks are short.
 */
#define DEFERRED_SHORT 4096
#define DEFERRED_MIDDLE 8192
#define DEFERRED_LONG 32768
/* Bytes that a walk reads above the program's first stack pointer. */
#define LATE_MARGIN 512

/* Bytes kept free in the ring for copies that other CPUs send at the same time. */
#define DEFERRED_ROOM (8 * DEFERRED_LONG)

/*
 * True if the stack is deferred; then chooses its random key. A stack is deferred if it leads
 * through code that is unknown or may have changed, unless the limit on copies or the ring's space
 * is used up.
 */
static __always_inline bool walk__is_deferred(struct walk *walk)
{
	bool doubted = walk->unresolved && walk->generation && walk->unloads != walk->known_unloads;

	walk->deferred = 0;
	if ((!walk->followed && !doubted) || deferred_watch.sent >= deferred_watch.limit ||
	    bpf_ringbuf_query(&stack_copies, BPF_RB_AVAIL_DATA) + DEFERRED_ROOM >
		    deferred_watch.ring_bytes)
		return false;
	walk->deferred = (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
	return walk->deferred;
}

static __always_inline void deferred__send_bytes(struct pt_regs *ctx, const struct walk *walk,
						 __u64 return_address, __u32 stack_bytes)
{
	struct memleak_stack_copy *sent =
		bpf_ringbuf_reserve(&stack_copies, MEMLEAK_DEFERRED_COPY_BYTES(stack_bytes), 0);
	struct unwind_copy *copy;

	if (!sent) {
		count(MEMLEAK_LOST_UNWIND, 1);
		return;
	}
	copy = &sent->copy;
	sent->deferred = walk->deferred;
	sent->image = walk->image;
	copy->pc = arch_code_address(return_address);
	arch_copy_registers(ctx, copy);
	copy_calls(walk, copy);
	copy_memory(copy, stack_bytes / UNWIND_COPY_PIECE, PT_REGS_SP(ctx));
	bpf_ringbuf_submit(sent, 0);
	__sync_fetch_and_add(&deferred_watch.sent, 1);
}

/*
 * Sends a copy of a deferred stack. Called after the stack was stored, because the loader looks up
 * the stored stack.
 */
static __always_inline void deferred__send(struct pt_regs *ctx, const struct walk *walk,
					   __u64 return_address)
{
	__u64 depth = first_stack_pointer() - walk->origin + LATE_MARGIN;

	if (depth <= DEFERRED_SHORT)
		deferred__send_bytes(ctx, walk, return_address, DEFERRED_SHORT);
	else if (depth <= DEFERRED_MIDDLE)
		deferred__send_bytes(ctx, walk, return_address, DEFERRED_MIDDLE);
	else
		deferred__send_bytes(ctx, walk, return_address, DEFERRED_LONG);
}

#endif
