/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --fds: tracks file descriptors as blocks of size 1. A descriptor is added when the system call
 * that opens it returns. It is removed when the call that closes it begins: when that call ends,
 * another thread may already have reused the number.
 *
 * System calls are traced instead of functions of the C library, because the library also opens and
 * closes descriptors without calling these functions. If no traced call opens a descriptor
 * (io_uring, ioctl()), the loader finds it in /proc.
 *
 * Newer kernels skip a BPF program for some system calls, probably those of other tasks while a
 * task is preempted in the program: Linux 7.2 does, 6.12 does not. From Linux 7.0 on, each program
 * therefore has a second one, which handles the events that the first one has missed. If both miss
 * an event, the loader finds its descriptors in /proc.
 */
#ifndef BPF_USER_PROBES_DESCRIPTORS_BPF_H
#define BPF_USER_PROBES_DESCRIPTORS_BPF_H

#include "bpf/descriptors.h"
#include "bpf/user_probes/event_stack.bpf.h"

/* Maximum descriptors removed at one close_range(). The loader finds the others in /proc. */
#define CLOSED_AT_ONCE 1024

/*
 * Maximum control messages searched in a message, and maximum descriptors in a control message
 * (SCM_MAX_FD).
 */
#define CONTROLS_MAX 4
#define RIGHTS_MAX 253
/* Word returned by find_rights(): address of the descriptors, and their number in the high bits. */
#define RIGHTS_SHIFT 56
#define RIGHTS_ADDRESS ((1ULL << RIGHTS_SHIFT) - 1)

#define SOCKET_LEVEL 1         /* SOL_SOCKET */
#define SOCKET_RIGHTS 1        /* SCM_RIGHTS */
#define RANGE_CLOEXEC 4        /* CLOSE_RANGE_CLOEXEC */
#define DUPLICATE 0            /* F_DUPFD */
#define DUPLICATE_CLOEXEC 1030 /* F_DUPFD_CLOEXEC */

/*
 * Commands of bpf() that return a descriptor: BPF_MAP_CREATE, BPF_PROG_LOAD, BPF_OBJ_GET,
 * BPF_{PROG,MAP}_GET_FD_BY_ID, BPF_RAW_TRACEPOINT_OPEN, BPF_BTF_LOAD, BPF_BTF_GET_FD_BY_ID,
 * BPF_LINK_CREATE, BPF_LINK_GET_FD_BY_ID, BPF_ENABLE_STATS, BPF_ITER_CREATE, BPF_TOKEN_CREATE.
 */
#define BPF_COMMANDS                                                                               \
	(1ULL << 0 | 1ULL << 5 | 1ULL << 7 | 1ULL << 13 | 1ULL << 14 | 1ULL << 17 | 1ULL << 18 |   \
	 1ULL << 19 | 1ULL << 28 | 1ULL << 30 | 1ULL << 32 | 1ULL << 33 | 1ULL << 36)

/* The enum memleak_fd_call of each system call number. */
const volatile __u8 fd_calls[MEMLEAK_SYSCALLS];

/*
 * When each descriptor was last closed. If an open descriptor is not tracked, the loader counts it
 * as missed, unless its number was closed shortly before the loader read /proc: then the number may
 * have been reused by a call that is not recorded yet.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct memleak_block_key);
	__type(value, __u64);
} closed_fds SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} fd_tail_calls SEC(".maps");

/* Part of struct msghdr: the buffer of control messages. */
struct message_control {
	__u64 addr;
	__u64 bytes;
};

#define MESSAGE_CONTROL 32

struct control_head {
	__u64 bytes; /* size of the control message, including this header */
	__u32 level;
	__u32 type;
};

static __always_inline __u32 fd_call_of(__u64 number)
{
	return number < MEMLEAK_SYSCALLS ? fd_calls[number % MEMLEAK_SYSCALLS] : MEMLEAK_FD_NONE;
}

/*
 * Returns the current process as a target. NULL if the process is no target, or if it is a vfork()
 * child: such a child has its own descriptor table, which is not tracked.
 */
static __always_inline struct memleak_target *fd_target(void)
{
	__u32 tgid = current_pids() >> 32;
	struct memleak_target *target = bpf_map_lookup_elem(&targets, &tgid);

	return target && target->image && !target->shares_memory ? target : NULL;
}

/*
 * Removes a descriptor's block, and records the time. Not static, so that loops over descriptors
 * are verified quickly.
 */
__noinline int fd_close(__u32 image, __u32 fd)
{
	struct memleak_block_key key = {.addr = MEMLEAK_FD_ADDR(fd), .image = image};
	__u64 now = bpf_ktime_get_ns();
	struct memleak_block block;

	bpf_map_update_elem(&closed_fds, &key, &now, BPF_ANY);
	return block__take(&key, &block);
}

static __always_inline void fd_close_range(const struct memleak_target *target, __u32 first,
					   __u32 last)
{
	__u32 end = target->fd_end;

	if (last < end)
		end = last + 1;
	for (__u32 i = 0; i < CLOSED_AT_ONCE; i++) {
		if (first >= end)
			break;
		fd_close(target->image, first++);
	}
}

static __always_inline int fd_enter(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 call = fd_call_of(ctx->args[1]);
	void *regs = (void *)ctx->args[0];
	struct memleak_target *target;

	if (call != MEMLEAK_FD_CLOSE && call != MEMLEAK_FD_CLOSE_RANGE)
		return 0;
	target = fd_target();
	if (!target)
		return 0;
	if (call == MEMLEAK_FD_CLOSE)
		fd_close(target->image, arch_syscall_argument(regs, 0));
	else if (!(arch_syscall_argument(regs, 2) & RANGE_CLOEXEC))
		fd_close_range(target, arch_syscall_argument(regs, 0),
			       arch_syscall_argument(regs, 1));
	return 0;
}

SEC("?raw_tp/sys_enter")
int fd_call_enter(struct bpf_raw_tracepoint_args *ctx)
{
	return fd_enter(ctx);
}

/* Handles the calls that fd_call_enter() has missed. Handling a call twice does no harm. */
SEC("?raw_tp/sys_enter")
int fd_second_enter(struct bpf_raw_tracepoint_args *ctx)
{
	return fd_enter(ctx);
}

/*
 * Stores a descriptor at the site of the thread's system call. Not static, so that loops over
 * descriptors are verified quickly.
 */
__noinline int fd_keep(__u32 fd)
{
	struct thread_state *thread = thread__find();
	struct memleak_target *target = fd_target();
	struct memleak_block_key key = {.addr = MEMLEAK_FD_ADDR(fd)};
	struct memleak_block block = {.size = 1, .birth_ns = bpf_ktime_get_ns()};

	if (!thread || !target)
		return 0;
	key.image = thread->image;
	block.site = thread->site;
	block.tid = thread->tid;
	block__repair(&key);
	block__store(&key, &block);
	emit_blocks(key.image);
	if (fd >= target->fd_end)
		target->fd_end = fd + 1;
	return 0;
}

/*
 * Finds the descriptors in a message. Returns the address of the first descriptor, with their count
 * in the top byte; 0 if there are none. Not static, so that its variables take BPF stack only while
 * it runs: kernels limit the stack that nested calls use together.
 */
__noinline __u64 find_rights(__u64 message)
{
	struct message_control control;
	struct control_head head;
	__u64 at = 0;

	if (bpf_probe_read_user(&control, sizeof(control), (void *)(message + MESSAGE_CONTROL)))
		return 0;
	for (int i = 0; i < CONTROLS_MAX && at + sizeof(head) <= control.bytes; i++) {
		if (bpf_probe_read_user(&head, sizeof(head), (void *)(control.addr + at)) ||
		    head.bytes < sizeof(head))
			return 0;
		if (head.level == SOCKET_LEVEL && head.type == SOCKET_RIGHTS)
			return ((control.addr + at + sizeof(head)) & RIGHTS_ADDRESS) |
			       (head.bytes - sizeof(head)) / sizeof(__u32) << RIGHTS_SHIFT;
		at += (head.bytes + 7) & ~7ULL;
	}
	return 0;
}

/*
 * Returns the number of descriptors that a system call has opened. *ret is the address at which the
 * call has stored the descriptors, or 0 if the call's result is the descriptor.
 */
static __always_inline __u32 find_new(void *regs, __u32 call, __s32 result, __u64 *ret)
{
	__u32 command;
	__u64 rights;

	*ret = 0;
	switch (call) {
	case MEMLEAK_FD_NEW:
		return 1;
	case MEMLEAK_FD_SIGNAL:
		return (__s32)arch_syscall_argument(regs, 0) == -1;
	case MEMLEAK_FD_FCNTL:
		command = arch_syscall_argument(regs, 1);
		return command == DUPLICATE || command == DUPLICATE_CLOEXEC;
	case MEMLEAK_FD_BPF:
		command = arch_syscall_argument(regs, 0);
		return command < 64 && BPF_COMMANDS >> command & 1;
	case MEMLEAK_FD_DUP_TO:
		return (__s32)arch_syscall_argument(regs, 0) != result;
	case MEMLEAK_FD_PAIR_IN_1ST:
		*ret = arch_syscall_argument(regs, 0);
		return 2;
	case MEMLEAK_FD_PAIR_IN_4TH:
		*ret = arch_syscall_argument(regs, 3);
		return 2;
	case MEMLEAK_FD_MESSAGE:
		rights = find_rights(arch_syscall_argument(regs, 1));
		*ret = rights & RIGHTS_ADDRESS;
		return rights >> RIGHTS_SHIFT;
	default:
		return 0;
	}
}

/*
 * Returns the number of descriptors that a system call has opened. fd_count_new() and fd_keep_new()
 * are not static, so that the verifier checks the stack walk between them once and not for each
 * system call.
 */
__noinline int fd_count_new(__u64 regs, __u32 call, __s32 result)
{
	__u64 at;

	return find_new((void *)regs, call, result, &at);
}

/*
 * Stores the descriptors that a system call has opened; removes the one that dup2() has replaced.
 */
__noinline int fd_keep_new(__u64 regs, __u32 call, __s32 result)
{
	struct memleak_target *target = fd_target();
	__u64 at;
	__u32 cnt = find_new((void *)regs, call, result, &at);

	if (call == MEMLEAK_FD_DUP_TO && target)
		fd_close(target->image, result);
	if (!at)
		return fd_keep(result);
	for (__u32 i = 0; i < RIGHTS_MAX; i++) {
		__s32 fd;

		if (i >= cnt || bpf_probe_read_user(&fd, sizeof(fd), (void *)(at + i * sizeof(fd))))
			break;
		if (fd >= 0)
			fd_keep(fd);
	}
	return 0;
}

/* Begins a walk at the instruction that makes the system call. */
static __always_inline struct walk *fd_walk__begin(void *regs, struct thread_state *thread,
						   __u32 *entry)
{
	struct walk *walk = walk__take(entry);
	struct pt_regs *ctx;

	if (!walk || !arch_read_syscall(regs, &walk->syscall)) {
		count(MEMLEAK_LOST_THREADS_FULL, 1);
		if (walk)
			walk__give_back(walk);
		return NULL;
	}
	ctx = arch_syscall_entry(&walk->syscall);
	walk__begin(walk, ctx, thread->image, thread->unloads, &thread->space);
	walk__see_call(walk, ctx);
	walk->slot = 0;
	walk->regs.pc = arch_code_address(arch_syscall_pc(&walk->syscall));
	walk->regs.lr = arch_syscall_lr(&walk->syscall);
	/*
	 * If calls push no return address (as on aarch64), treat the function that makes the system
	 * call like a function that a signal interrupted: it may have no frame.
	 */
	walk->exact = !ARCH_SLOT_HOLDS_RETURN_ADDRESS;
	thread->call.return_address = walk->regs.pc;
	return walk;
}

/*
 * Finds the site of the thread's system call, or continues with a tail call to a program that can
 * find it. Returns false if there is no site.
 */
static __always_inline bool fd_capture(struct bpf_raw_tracepoint_args *ctx,
				       struct thread_state *thread, bool by_vma)
{
	struct walk *walk;
	__u32 entry = 0;

	thread->kind = MEMLEAK_KIND_DESCRIPTOR;
	thread->chosen = true;
	walk = fd_walk__begin((void *)ctx->args[0], thread, &entry);
	if (!walk)
		return false;
	if (by_vma) {
		walk__all_by_vma(walk, entry);
		walk__store(arch_syscall_entry(&walk->syscall), walk, entry, thread);
	} else if (!walk_look_up(entry) || !walk__find_site(walk, thread)) {
		if (!walk__all(walk, entry)) {
			walk__give_back(walk);
			bpf_tail_call(ctx, &fd_tail_calls, 0);
			return false;
		}
		walk__store(arch_syscall_entry(&walk->syscall), walk, entry, thread);
	}
	walk__give_back(walk);
	return thread->chosen;
}

/* True if fd_call_return() has handled the event with these arguments. Then forgets it. */
static __always_inline bool fd_event__is_handled(const struct bpf_raw_tracepoint_args *ctx)
{
	struct thread_state *thread = thread__find();

	if (!thread || thread->fd_event != (__u64)ctx)
		return false;
	thread->fd_event = 0;
	return true;
}

/* BPF programs that handle the end of a system call. */
enum fd_return_program { FD_RETURN_FIRST, FD_RETURN_SECOND, FD_RETURN_BY_VMA };

static __always_inline int fd_return(struct bpf_raw_tracepoint_args *ctx,
				     enum fd_return_program which)
{
	__u32 call = fd_call_of(arch_syscall_number((void *)ctx->args[0]));
	__s64 result = ctx->args[1];
	struct thread_state *thread;

	if (call < MEMLEAK_FD_NEW || result < 0 || !fd_target() || !tracking ||
	    !fd_count_new(ctx->args[0], call, result))
		return 0;
	if (which == FD_RETURN_SECOND && fd_event__is_handled(ctx))
		return 0;
	thread = thread__get(MEMLEAK_ANY_BINDING);
	if (thread && which == FD_RETURN_FIRST)
		thread->fd_event = (__u64)ctx;
	if (thread && fd_capture(ctx, thread, which == FD_RETURN_BY_VMA))
		fd_keep_new(ctx->args[0], call, result);
	return 0;
}

SEC("?raw_tp/sys_exit")
int fd_call_return(struct bpf_raw_tracepoint_args *ctx)
{
	return fd_return(ctx, FD_RETURN_FIRST);
}

SEC("?raw_tp/sys_exit")
int fd_second_return(struct bpf_raw_tracepoint_args *ctx)
{
	return fd_return(ctx, FD_RETURN_SECOND);
}

/* For stacks that lead through code that only the kernel's VMAs describe. */
SEC("?raw_tp/sys_exit")
int fd_call_return_by_vma(struct bpf_raw_tracepoint_args *ctx)
{
	return fd_return(ctx, FD_RETURN_BY_VMA);
}

#endif
