// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF programs for probes on a process's allocator. If probes have cookies, one program handles
 * all entries; else each shape of call has an entry program. With --fds, system calls are traced
 * instead of the allocator.
 */
#include "bpf/user_probes/count.bpf.h"
#include "bpf/user_probes/descriptors.bpf.h"
#include "bpf/user_probes/event_stack.bpf.h"
#include "bpf/user_probes/file_system.bpf.h"
#include "bpf/user_probes/heap.bpf.h"
#include "bpf/user_probes/item_watch.bpf.h"
#include "bpf/user_probes/libraries.bpf.h"
#include "bpf/user_probes/mapping.bpf.h"
#include "bpf/user_probes/nesting.bpf.h"
#include "bpf/user_probes/processes.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * Returns cnt * size, or the maximum on overflow: such a call fails anyway, but must not look like
 * a call for 0 bytes.
 */
static __always_inline __u64 array_size(__u64 cnt, __u64 size)
{
	__u64 most = cnt ? ~0ULL / cnt : ~0ULL;

	/* Prevents clang from using a 128-bit product, which BPF lacks. */
	barrier_var(most);
	return size > most ? ~0ULL : cnt * size;
}

/* True if the call writes a path into the caller's buffer, and so allocates no block. */
static __always_inline bool fills_buffer(struct pt_regs *ctx, __u32 shape)
{
	return (shape == MEMLEAK_SHAPE_PATH && PT_REGS_PARM2(ctx)) ||
	       (shape == MEMLEAK_SHAPE_HEAP_PATH && PT_REGS_PARM3(ctx));
}

static __always_inline void enter_heap(struct pt_regs *ctx, struct thread_state *thread,
				       __u32 shape)
{
	__u64 arg1 = PT_REGS_PARM1(ctx), arg2 = PT_REGS_PARM2(ctx), arg3 = PT_REGS_PARM3(ctx);
	__u32 operation = OP_ALLOC;
	__u64 addr = 0, size;

	switch (shape) {
	case MEMLEAK_SHAPE_SIZE:
		size = arg1;
		break;
	case MEMLEAK_SHAPE_COUNT_SIZE:
		size = array_size(arg1, arg2);
		break;
	case MEMLEAK_SHAPE_ALIGN_SIZE:
		size = arg2;
		break;
	case MEMLEAK_SHAPE_REALLOC:
	case MEMLEAK_SHAPE_REALLOCF:
		operation = OP_REALLOC;
		addr = arg1;
		size = arg2;
		break;
	case MEMLEAK_SHAPE_REALLOCARRAY:
		operation = OP_REALLOC;
		addr = arg1;
		size = array_size(arg2, arg3);
		break;
	case MEMLEAK_SHAPE_POSIX_MEMALIGN:
		operation = OP_POSIX_MEMALIGN;
		addr = arg1;
		size = arg3;
		break;
	case MEMLEAK_SHAPE_RESIZE:
		operation = OP_RESIZE;
		addr = arg1;
		size = arg2;
		break;
	case MEMLEAK_SHAPE_HEAP_COUNT_SIZE:
		size = array_size(arg2, arg3);
		break;
	case MEMLEAK_SHAPE_HEAP_REALLOC:
	case MEMLEAK_SHAPE_HEAP_REALLOCF:
		operation = OP_REALLOC;
		addr = arg2;
		size = arg3;
		break;
	case MEMLEAK_SHAPE_HEAP_REALLOCARRAY:
		operation = OP_REALLOC;
		addr = arg2;
		size = array_size(arg3, PT_REGS_PARM4(ctx));
		break;
	case MEMLEAK_SHAPE_STRING:
	case MEMLEAK_SHAPE_PATH:
	case MEMLEAK_SHAPE_HEAP_PATH:
		operation = OP_STRING;
		size = 0;
		break;
	default:
		return;
	}
	begin_alloc(ctx, thread, shape, operation, addr, size);
}

/* Handles the return of the call at the stack address `slot`. */
static __always_inline void leave_any(struct pt_regs *ctx, __u64 slot)
{
	struct thread_state *thread = thread__find();
	__u64 result = PT_REGS_RC(ctx);

	if (!thread || (!thread__leave(thread, slot) && !goes_on(thread, slot)))
		return;
	switch (thread->operation) {
	case OP_MMAP:
		leave_mmap(thread, result);
		break;
	case OP_MUNMAP:
		leave_munmap(thread, result);
		break;
	case OP_MREMAP:
		leave_mremap(thread, result);
		break;
	case OP_RESIZE:
		result = resize_result(thread, result);
		/* fall through */
	default:
		if (thread->operation == OP_STRING)
			string__choose(thread, result);
		leave_heap(thread, result);
	}
	thread__resume_call(thread);
}

/* True if the call in progress also frees memory. With -tt, such a call always gets a stack. */
static __always_inline bool thread__frees(const struct thread_state *thread)
{
	switch (thread->operation) {
	case OP_REALLOC:
		return thread->addr;
	case OP_MUNMAP:
	case OP_MREMAP:
		return true;
	default:
		return false;
	}
}

/* Handles the entry of a call. True if a return probe must report its return. */
static __always_inline bool enter_call(struct pt_regs *ctx, const struct entry *entry, __u32 shape)
{
	struct thread_state *thread;

	if (fills_buffer(ctx, shape))
		return false;
	thread = thread__enter(ctx, entry, shape);
	if (!thread)
		return false;
	switch (shape) {
	case MEMLEAK_SHAPE_MMAP:
		begin_mmap(ctx, thread);
		break;
	case MEMLEAK_SHAPE_MUNMAP:
		begin_munmap(ctx, thread);
		break;
	case MEMLEAK_SHAPE_MREMAP:
		begin_mremap(ctx, thread);
		break;
	default:
		enter_heap(ctx, thread, shape);
	}
	if (thread->chosen)
		stack__tail_capture(ctx, entry, thread);
	else if (thread__frees(thread))
		stack__tail_capture_event(ctx, entry, thread);
	return thread__leaves_entry(ctx, thread, shape);
}

static __always_inline bool enter_shape(struct pt_regs *ctx, const struct entry *entry, __u32 shape)
{
	__u64 arg1 = PT_REGS_PARM1(ctx), arg2 = PT_REGS_PARM2(ctx);

	switch (shape) {
	case MEMLEAK_SHAPE_FREE:
	case MEMLEAK_SHAPE_HEAP_FREE:
		enter_free(ctx, entry, shape, shape == MEMLEAK_SHAPE_FREE ? arg1 : arg2);
		return false;
	case MEMLEAK_SHAPE_HEAP_DESTROY:
		enter_destroy(entry, arg1);
		return false;
	case MEMLEAK_SHAPE_LIBRARIES:
		enter_libraries(ctx, entry->binding);
		return false;
	case MEMLEAK_SHAPE_RAISE:
		raise_in_call(ctx);
		return false;
	case MEMLEAK_SHAPE_CODE:
		__sync_fetch_and_add(&freed_code_cnt, 1);
		return false;
	default:
		return enter_call(ctx, entry, shape);
	}
}

static __always_inline bool enter_by_cookie(struct pt_regs *ctx, __u64 cookie)
{
	const struct entry entry = {
		.tail_calls = &tail_calls,
		.binding = MEMLEAK_COOKIE_BINDING(cookie),
		.throws = cookie & MEMLEAK_COOKIE_THROWS,
	};

	return enter_shape(ctx, &entry, MEMLEAK_COOKIE_SHAPE(cookie));
}

static __always_inline bool enter_session(struct pt_regs *ctx, __u64 cookie)
{
	const struct entry entry = {
		.tail_calls = &session_tail_calls,
		.binding = MEMLEAK_COOKIE_BINDING(cookie),
	};

	return enter_shape(ctx, &entry, MEMLEAK_COOKIE_SHAPE(cookie));
}

/*
 * Entry program for probes with cookies, which contain the shape of the call. Also handles probes
 * on return instructions.
 */
SEC("uprobe")
int enter_any(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	if (MEMLEAK_COOKIE_SHAPE(cookie) == MEMLEAK_SHAPE_RETURN)
		leave_any(ctx, arch_entry_slot(ctx));
	else
		enter_by_cookie(ctx, cookie);
	return 0;
}

#define ENTRY_PROGRAM(name, shape)                                                                 \
	SEC("uprobe") int name(struct pt_regs *ctx)                                                \
	{                                                                                          \
		const struct entry entry = {.tail_calls = &tail_calls,                             \
					    .binding = MEMLEAK_ANY_BINDING};                       \
                                                                                                   \
		enter_shape(ctx, &entry, shape);                                                   \
		return 0;                                                                          \
	}

ENTRY_PROGRAM(enter_of_size, MEMLEAK_SHAPE_SIZE)
ENTRY_PROGRAM(enter_of_count_size, MEMLEAK_SHAPE_COUNT_SIZE)
ENTRY_PROGRAM(enter_of_align_size, MEMLEAK_SHAPE_ALIGN_SIZE)
ENTRY_PROGRAM(enter_of_realloc, MEMLEAK_SHAPE_REALLOC)
ENTRY_PROGRAM(enter_of_reallocarray, MEMLEAK_SHAPE_REALLOCARRAY)
ENTRY_PROGRAM(enter_of_posix_memalign, MEMLEAK_SHAPE_POSIX_MEMALIGN)
ENTRY_PROGRAM(enter_of_free, MEMLEAK_SHAPE_FREE)
ENTRY_PROGRAM(enter_of_mmap, MEMLEAK_SHAPE_MMAP)
ENTRY_PROGRAM(enter_of_munmap, MEMLEAK_SHAPE_MUNMAP)
ENTRY_PROGRAM(enter_of_mremap, MEMLEAK_SHAPE_MREMAP)
ENTRY_PROGRAM(enter_of_heap_count_size, MEMLEAK_SHAPE_HEAP_COUNT_SIZE)
ENTRY_PROGRAM(enter_of_heap_realloc, MEMLEAK_SHAPE_HEAP_REALLOC)
ENTRY_PROGRAM(enter_of_heap_reallocarray, MEMLEAK_SHAPE_HEAP_REALLOCARRAY)
ENTRY_PROGRAM(enter_of_heap_free, MEMLEAK_SHAPE_HEAP_FREE)
ENTRY_PROGRAM(enter_of_resize, MEMLEAK_SHAPE_RESIZE)
ENTRY_PROGRAM(enter_of_heap_destroy, MEMLEAK_SHAPE_HEAP_DESTROY)
ENTRY_PROGRAM(enter_of_string, MEMLEAK_SHAPE_STRING)
ENTRY_PROGRAM(enter_of_path, MEMLEAK_SHAPE_PATH)
ENTRY_PROGRAM(enter_of_heap_path, MEMLEAK_SHAPE_HEAP_PATH)
ENTRY_PROGRAM(enter_of_reallocf, MEMLEAK_SHAPE_REALLOCF)
ENTRY_PROGRAM(enter_of_heap_reallocf, MEMLEAK_SHAPE_HEAP_REALLOCF)
ENTRY_PROGRAM(enter_of_libraries, MEMLEAK_SHAPE_LIBRARIES)
ENTRY_PROGRAM(enter_of_raise, MEMLEAK_SHAPE_RAISE)
ENTRY_PROGRAM(enter_of_code, MEMLEAK_SHAPE_CODE)

/* Entry program for a probe on a return instruction. */
SEC("uprobe")
int enter_of_return(struct pt_regs *ctx)
{
	leave_any(ctx, arch_entry_slot(ctx));
	return 0;
}

SEC("uretprobe")
int leave_call(struct pt_regs *ctx)
{
	stay_on_own_stack(ctx, &tail_calls);
	leave_any(ctx, arch_return_slot(ctx));
	return 0;
}

/*
 * Handles the entries and the returns of functions with a probe session. At a return, the kernel
 * has set the instruction pointer to the return address, which differs from the function's address.
 * If it returns 1 at an entry, the kernel does not report the return.
 */
SEC("uprobe")
int session_call(struct pt_regs *ctx)
{
	if (PT_REGS_IP(ctx) == bpf_get_func_ip(ctx))
		return !enter_session(ctx, bpf_get_attach_cookie(ctx));
	leave_any(ctx, arch_return_slot(ctx));
	return 0;
}

/*
 * Walks the stack to decide whether the call being entered is nested in a marked call. If it is
 * not, makes a tail call to the program that handles the entry.
 */
static __always_inline void decide(struct pt_regs *ctx, struct tail_calls *tail_calls)
{
	struct thread_state *thread = thread__find();

	if (!thread || thread__is_inside(ctx, thread))
		return;
	thread->decided = true;
	bpf_tail_call(ctx, tail_calls, MEMLEAK_TAIL_ENTER);
	thread->decided = false;
	count(MEMLEAK_LOST_NESTING, 1);
}

SEC("uprobe")
int session_decide(struct pt_regs *ctx)
{
	decide(ctx, &session_tail_calls);
	return 1;
}

/* Calls decide() for probes that are not probe sessions. */
SEC("uprobe")
int decide_nesting(struct pt_regs *ctx)
{
	decide(ctx, &tail_calls);
	return 0;
}

/* Handles an entry that a stack walk found not to be nested; for probes without cookies. */
SEC("uprobe")
int enter_decided(struct pt_regs *ctx)
{
	const struct entry entry = {.tail_calls = &tail_calls, .binding = MEMLEAK_ANY_BINDING};
	struct thread_state *thread = thread__find();

	if (thread)
		enter_shape(ctx, &entry, thread->asked_shape);
	return 0;
}
