/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All architecture-specific code of the BPF programs. No other file may test for the architecture.
 *
 * A call is identified by its *slot*: on x86-64, the address of the stack word that contains the
 * return address; on aarch64, the stack pointer at entry. The entry probe and the return probe of a
 * call see the same slot. Nested calls have lower slots.
 */
#ifndef BPF_ARCH_BPF_H
#define BPF_ARCH_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/thread_record.h"
#include "bpf/unwind.h"

/* The registers of a frame; lr is 0 if its value is unknown. */
struct unwind_regs {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u64 lr;
};

/*
 * Addresses at which a frame has saved the return address and its caller's frame pointer; 0 if not
 * saved.
 */
struct unwind_saved_at {
	__u64 ra;
	__u64 fp;
};

#if defined(__TARGET_ARCH_x86)

static __always_inline __u64 arch_entry_slot(struct pt_regs *ctx)
{
	return PT_REGS_SP(ctx);
}

/* Returns the slot of a call whose return has just popped it: the word below the stack pointer. */
static __always_inline __u64 arch_return_slot(struct pt_regs *ctx)
{
	return PT_REGS_SP(ctx) - sizeof(__u64);
}

/* Returns the return address at the entry of a function; 0 if it cannot be read. */
static __always_inline __u64 arch_return_address(struct pt_regs *ctx)
{
	__u64 ra = 0;

	bpf_probe_read_user(&ra, sizeof(ra), (void *)PT_REGS_SP(ctx));
	return ra;
}

/* Reads the word at a call's slot: during the call, its return address or the return trampoline. */
static __always_inline bool arch_read_slot(__u64 slot, __u64 *word)
{
	return bpf_probe_read_user(word, sizeof(*word), (void *)slot) == 0;
}

#define ARCH_SLOT_HOLDS_RETURN_ADDRESS 1

/* 1 if other CPUs see a CPU's stores in program order. */
#define ARCH_STORES_IN_ORDER 1

/*
 * True if a PLT stub, which jumps to a function of another library, begins at addr, or if the code
 * at addr cannot be read.
 */
static __always_inline bool arch_is_stub(__u64 addr)
{
	const __u32 endbr64 = 0xfa1e0ff3;
	struct {
		__u32 begin;
		__u32 jump;
	} code;

	if (bpf_probe_read_user(&code, sizeof(code), (void *)addr))
		return true;
	if (code.begin == endbr64)
		code.begin = code.jump;
	/* jmp *disp(%rip), with or without a bnd prefix */
	return (code.begin & 0xffff) == 0x25ff || (code.begin & 0xffffff) == 0x25fff2;
}

/*
 * Returns the function called by the instruction before return_address; 0 if the call is indirect,
 * goes to a PLT stub, or cannot be read.
 */
static __always_inline __u64 arch_called_function(__u64 return_address)
{
	struct {
		__s32 distance;
		__u8 opcode;
	} call = {0};
	__u64 addr;

	if (bpf_probe_read_user(&call.opcode, 1, (void *)return_address - 5) ||
	    bpf_probe_read_user(&call.distance, 4, (void *)return_address - 4))
		return 0;
	addr = return_address + call.distance;
	return call.opcode == 0xe8 && !arch_is_stub(addr) ? addr : 0;
}

/*
 * Derives the unwind rule from the code at a return address, if that code only releases stack
 * memory and returns, as in the trampolines of python -X perf. Returns false for other code. The
 * rule does not depend on the frame pointer.
 */
static __always_inline bool arch_rule_by_code(__u64 addr, struct unwind_rule *ret)
{
	__u64 code;

	if (bpf_probe_read_user(&code, sizeof(code), (void *)addr) || !unwind_returns(code))
		return false;
	ret->cfa = UNWIND_CFA_SP;
	ret->saved = UNWIND_SAVED_NONE;
	ret->saved_off = 0;
	ret->cfa_off = unwind_given_back(code) + 8;
	return true;
}

/* At a function's entry, sets the caller's registers that a walk needs. */
static __always_inline void arch_caller(struct pt_regs *ctx, struct unwind_regs *ret)
{
	ret->sp = PT_REGS_SP(ctx) + sizeof(__u64);
	ret->fp = PT_REGS_FP(ctx);
	ret->lr = 0;
}

static __always_inline __u64 arch_code_address(__u64 addr)
{
	return addr;
}

/* Copies the registers that the caller will have when it continues at copy->pc after the call. */
static __always_inline void arch_copy_registers(struct pt_regs *ctx, struct unwind_copy *copy)
{
	__u64 *ret = copy->registers;

	ret[0] = ctx->rax;
	ret[1] = ctx->rdx;
	ret[2] = ctx->rcx;
	ret[3] = ctx->rbx;
	ret[4] = ctx->rsi;
	ret[5] = ctx->rdi;
	ret[6] = ctx->rbp;
	ret[7] = ctx->rsp + sizeof(__u64);
	ret[8] = ctx->r8;
	ret[9] = ctx->r9;
	ret[10] = ctx->r10;
	ret[11] = ctx->r11;
	ret[12] = ctx->r12;
	ret[13] = ctx->r13;
	ret[14] = ctx->r14;
	ret[15] = ctx->r15;
	copy->register_cnt = 16;
}

/* Returns the slot of the call that created a frame. */
static __always_inline __u64 arch_frame_slot(__u64 cfa)
{
	return cfa - sizeof(__u64);
}

/* Finds the addresses at which the frame has saved its caller's registers. */
static __always_inline void arch_saved(const struct unwind_rule *rule, __u64 cfa, __u64 fp,
				       struct unwind_saved_at *ret)
{
	ret->ra = cfa - sizeof(__u64);
	ret->fp = 0;
	if (rule->saved == UNWIND_SAVED_FP)
		ret->fp = cfa + rule->saved_off;
	else if (rule->saved == UNWIND_SAVED_FP_REL)
		ret->fp = fp + rule->saved_off;
}

/*
 * When a signal handler has returned, the stack pointer points at a struct ucontext, with the
 * registers of the interrupted code at these offsets from the stack pointer.
 */
#define ARCH_SIGNAL_FP 120
#define ARCH_SIGNAL_SP 160
#define ARCH_SIGNAL_PC 168
#define ARCH_SIGNAL_LR 0 /* none */

/*
 * Number of register words copied, in the order of struct user_regs_struct. After them, two words
 * contain fs_base and gs_base. Only the lowest 16 bits of cs and ss are valid.
 */
#define ARCH_PTRACE_WORDS 21
#define ARCH_PC 16
#define ARCH_CS 17
#define ARCH_SP 19
#define ARCH_SS 20

/*
 * Reads the user registers of a thread that is not running user code. Returns false if they are not
 * at the expected place. In kernel threads of a process, such as io_uring workers, all registers
 * are 0, which counts as valid.
 */
static __always_inline bool arch_thread_registers(struct task_struct *task, __u64 *ret)
{
	const __u64 bytes = ARCH_PTRACE_WORDS * sizeof(__u64);
	__u64 at = task_user_registers(task, 16384, bytes);

	if (bpf_probe_read_kernel(ret, bytes, (void *)at))
		return false;
	ret[ARCH_CS] &= 0xffff;
	ret[ARCH_SS] &= 0xffff;
	ret[ARCH_PTRACE_WORDS] = BPF_CORE_READ(task, thread.fsbase);
	ret[ARCH_PTRACE_WORDS + 1] = BPF_CORE_READ(task, thread.gsbase);
	/* Segment selectors of user space have 3 in the lowest two bits. */
	return (ret[ARCH_CS] & ret[ARCH_SS] & 3) == 3 || !(ret[ARCH_PC] | ret[ARCH_SP]);
}

/*
 * Copies the vector registers in XSAVE format, in whole words: at most `max` bytes and fewer than
 * MEMLEAK_VECTOR_BYTES. Returns the number of bytes; 0 on failure.
 */
static __always_inline __u32 arch_thread_vectors(struct task_struct *task, __u32 max, void *ret)
{
	struct fpu *fpu = (void *)task + bpf_core_type_size(struct task_struct);
	struct fpu___inner *inner;
	struct fpstate *state;
	void *from;

	if (bpf_core_field_exists(task->thread.fpu))
		fpu = __builtin_preserve_access_index(&task->thread.fpu);
	inner = (void *)fpu;
	if (bpf_core_field_exists(fpu->fpstate)) {
		state = BPF_CORE_READ(fpu, fpstate);
		if (BPF_CORE_READ(state, size) < max)
			max = BPF_CORE_READ(state, size);
		from = __builtin_preserve_access_index(&state->regs);
	} else {
		from = __builtin_preserve_access_index(&inner->state);
	}
	max &= MEMLEAK_VECTOR_BYTES - 8;
	return bpf_probe_read_kernel(ret, max, from) ? 0 : max;
}

static __always_inline __u64 arch_thread_pointer(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, thread.fsbase);
}

/*
 * Returns the address at which a thread stores its data for a pthread key: the second word of the
 * key's entry in glibc's struct pthread. Returns 0 if the key is above 31, since later entries are
 * stored elsewhere.
 */
static __always_inline __u64 arch_thread_data(__u64 thread, __u32 key)
{
	return key < 32 ? thread + 0x310 + key * 16 + 8 : 0;
}

/*
 * The registers of a thread in a system call, in the form that they would have if the thread had
 * called a function instead.
 */
struct arch_syscall {
	struct pt_regs regs;
};

/*
 * Returns the number of a system call. In arch_syscall_number(), arch_syscall_argument() and
 * arch_read_syscall(), `regs` is the kernel's struct pt_regs of the system call.
 */
static __always_inline __u64 arch_syscall_number(void *regs)
{
	__u64 number = ~0ULL;

	bpf_probe_read_kernel(&number, sizeof(number), &((struct pt_regs *)regs)->orig_rax);
	return number;
}

/* Returns one of the first four arguments of a system call, even after the call has returned. */
static __always_inline __u64 arch_syscall_argument(void *regs, int i)
{
	struct pt_regs *from = regs;
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value),
			      i == 0   ? &from->rdi
			      : i == 1 ? &from->rsi
			      : i == 2 ? &from->rdx
				       : &from->r10);
	return value;
}

/* Reads the registers of a system call, in the form of a function call. False if unreadable. */
static __always_inline bool arch_read_syscall(void *regs, struct arch_syscall *ret)
{
	if (bpf_probe_read_kernel(&ret->regs, sizeof(ret->regs), regs))
		return false;
	ret->regs.rsp -= sizeof(__u64);
	return true;
}

static __always_inline __u64 arch_syscall_pc(const struct arch_syscall *call)
{
	return call->regs.rip;
}

static __always_inline __u64 arch_syscall_lr(const struct arch_syscall *call)
{
	return 0;
}

static __always_inline struct pt_regs *arch_syscall_entry(struct arch_syscall *call)
{
	return &call->regs;
}

#elif defined(__TARGET_ARCH_arm64)

static __always_inline __u64 arch_entry_slot(struct pt_regs *ctx)
{
	return PT_REGS_SP(ctx);
}

static __always_inline __u64 arch_return_slot(struct pt_regs *ctx)
{
	return PT_REGS_SP(ctx);
}

static __always_inline __u64 arch_return_address(struct pt_regs *ctx)
{
	return PT_REGS_RET(ctx);
}

/* Returns false: the return address is in a register, or saved at an unknown place. */
static __always_inline bool arch_read_slot(__u64 slot, __u64 *word)
{
	return false;
}

#define ARCH_SLOT_HOLDS_RETURN_ADDRESS 0
#define ARCH_STORES_IN_ORDER 0

static __always_inline __u64 arch_called_function(__u64 return_address)
{
	__u32 call = 0, stub = 0;
	__s32 words;
	__u64 addr;

	if (bpf_probe_read_user(&call, sizeof(call), (void *)return_address - sizeof(call)) ||
	    call >> 26 != 0x25)
		return 0;
	words = (__s32)(call << 6) >> 6;
	addr = return_address + (words - 1) * (__s64)sizeof(call);
	/* A stub begins with adrp x16, possibly after bti c. */
	if (bpf_probe_read_user(&stub, sizeof(stub), (void *)addr) ||
	    (stub & 0x9f00001f) == 0x90000010 || stub == 0xd503245f)
		return 0;
	return addr;
}

/* Returns false: the trampolines of python -X perf keep a frame pointer, so they need no rule. */
static __always_inline bool arch_rule_by_code(__u64 addr, struct unwind_rule *ret)
{
	(void)addr;
	(void)ret;
	return false;
}

static __always_inline void arch_caller(struct pt_regs *ctx, struct unwind_regs *ret)
{
	ret->sp = PT_REGS_SP(ctx);
	ret->fp = PT_REGS_FP(ctx);
	ret->lr = 0; /* the caller's lr is unknown: the call has replaced it */
}

static __always_inline void arch_copy_registers(struct pt_regs *ctx, struct unwind_copy *copy)
{
	const struct user_pt_regs *regs = (const void *)ctx;

	copy->register_cnt = 32;
	if (bpf_probe_read_kernel(copy->registers, 32 * sizeof(__u64), regs))
		copy->register_cnt = 0;
}

/* Removes the pointer's signature (PAC), which is in unused address bits. */
static __always_inline __u64 arch_code_address(__u64 addr)
{
	return addr & ((1ULL << 48) - 1);
}

static __always_inline __u64 arch_frame_slot(__u64 cfa)
{
	return cfa;
}

static __always_inline void arch_saved(const struct unwind_rule *rule, __u64 cfa, __u64 fp,
				       struct unwind_saved_at *ret)
{
	ret->ra = 0;
	ret->fp = 0;
	if (rule->saved == UNWIND_SAVED_RA) {
		ret->ra = cfa + rule->saved_off;
	} else if (rule->saved == UNWIND_SAVED_PAIR) {
		ret->fp = cfa + rule->saved_off;
		ret->ra = ret->fp + sizeof(__u64);
	}
}

/*
 * When a signal handler has returned, the stack pointer points at a struct rt_sigframe: siginfo,
 * then ucontext with the registers of the interrupted code, at these offsets from the stack
 * pointer.
 */
#define ARCH_SIGNAL_FP 544
#define ARCH_SIGNAL_LR 552
#define ARCH_SIGNAL_SP 560
#define ARCH_SIGNAL_PC 568

/*
 * Number of words of struct user_pt_regs. The words after these are TPIDR_EL0, the value of x0
 * before the system call, and the number of the system call or -1.
 */
#define ARCH_PTRACE_WORDS 34

/* Fields of the kernel's struct pt_regs that struct user_pt_regs lacks. */
struct pt_regs___kernel {
	__u64 orig_x0;
	__s32 syscallno;
} __attribute__((preserve_access_index));

static __always_inline bool arch_thread_registers(struct task_struct *task, __u64 *ret)
{
	const __u64 bytes = bpf_core_type_size(struct pt_regs___kernel);
	struct pt_regs___kernel *regs = (void *)task_user_registers(task, 16384, bytes);

	if (bpf_probe_read_kernel(ret, ARCH_PTRACE_WORDS * sizeof(__u64), regs))
		return false;
	ret[ARCH_PTRACE_WORDS] = BPF_CORE_READ(task, thread.uw.tp_value);
	ret[ARCH_PTRACE_WORDS + 1] = BPF_CORE_READ(regs, orig_x0);
	ret[ARCH_PTRACE_WORDS + 2] = (__s64)BPF_CORE_READ(regs, syscallno);
	/* The mode bits of pstate are 0 for user space. */
	return !(ret[ARCH_PTRACE_WORDS - 1] & 0xf) ||
	       !(ret[ARCH_PTRACE_WORDS - 2] | ret[ARCH_PTRACE_WORDS - 3]);
}

static __always_inline __u64 arch_thread_pointer(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, thread.uw.tp_value);
}

/* Returns 0, since the address depends on the size of glibc's struct pthread, which is unknown. */
static __always_inline __u64 arch_thread_data(__u64 thread, __u32 key)
{
	return 0;
}

/*
 * Copies the 32 vector registers of 16 bytes and, if the thread uses SVE and `max` allows it, the
 * SVE registers. Returns the number of bytes; 0 on failure.
 */
static __always_inline __u32 arch_thread_vectors(struct task_struct *task, __u32 max, void *ret)
{
	struct thread_struct___one_length *old = (void *)&task->thread;
	void *sve = BPF_CORE_READ(task, thread.sve_state);
	__u32 bytes = 0;

	if (max < 512 ||
	    bpf_probe_read_kernel(ret, 512,
				  __builtin_preserve_access_index(&task->thread.uw.fpsimd_state)))
		return 0;
	if (bpf_core_field_exists(task->thread.vl))
		bytes = 32 * BPF_CORE_READ(task, thread.vl[0]);
	else if (bpf_core_field_exists(old->sve_vl))
		bytes = 32 * BPF_CORE_READ(old, sve_vl);
	if (!sve || bytes > 32 * 256 || bytes + 512 > max)
		return 512;
	bytes &= MEMLEAK_VECTOR_BYTES / 2 - 8;
	return bpf_probe_read_kernel(ret + 512, bytes, sve) ? 512 : 512 + bytes;
}

struct arch_syscall {
	struct user_pt_regs regs;
};

static __always_inline __u64 arch_syscall_number(void *regs)
{
	return (__s64)BPF_CORE_READ((struct pt_regs___kernel *)regs, syscallno);
}

/*
 * Returns one argument of a system call, even after its result has replaced the first argument, of
 * which the kernel keeps a copy.
 */
static __always_inline __u64 arch_syscall_argument(void *regs, int i)
{
	struct user_pt_regs *from = regs;
	__u64 value = 0;

	if (i == 0)
		return BPF_CORE_READ((struct pt_regs___kernel *)regs, orig_x0);
	bpf_probe_read_kernel(&value, sizeof(value), &from->regs[i]);
	return value;
}

static __always_inline bool arch_read_syscall(void *regs, struct arch_syscall *ret)
{
	return !bpf_probe_read_kernel(&ret->regs, sizeof(ret->regs), regs);
}

static __always_inline __u64 arch_syscall_pc(const struct arch_syscall *call)
{
	return call->regs.pc;
}

/*
 * Returns lr, which may still contain the return address of the function that makes the system
 * call.
 */
static __always_inline __u64 arch_syscall_lr(const struct arch_syscall *call)
{
	return arch_code_address(call->regs.regs[30]);
}

static __always_inline struct pt_regs *arch_syscall_entry(struct arch_syscall *call)
{
	return (struct pt_regs *)&call->regs;
}

#else
#error "memleak knows x86-64 and aarch64"
#endif

#endif
