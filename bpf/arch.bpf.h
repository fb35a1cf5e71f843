/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything in the BPF programs that differs by architecture. Nothing else may ask which one
 * it is.
 *
 * A call is known by its *slot*: on x86-64 the address of the stack word that holds its return
 * address, on aarch64 the stack pointer at entry. It is the same number seen from the entry
 * probe and from the return probe of one call, and lower for calls made inside it.
 */
#ifndef BPF_ARCH_BPF_H
#define BPF_ARCH_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/unwind.h"

/* The registers of a frame; lr 0: its value is not known any more. */
struct unwind_regs {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u64 lr;
};

/* Where registers are saved; 0: the value is still in the register. */
struct unwind_saved_at {
	__u64 ra;
	__u64 fp;
};

#if defined(__TARGET_ARCH_x86)

static __always_inline __u64 arch_entry_slot(struct pt_regs *ctx)
{
	return PT_REGS_SP(ctx);
}

/* The return instruction has popped the return address. */
static __always_inline __u64 arch_return_slot(struct pt_regs *ctx)
{
	return PT_REGS_SP(ctx) - sizeof(__u64);
}

/* The return address of the call that was just made; 0 if it cannot be read. */
static __always_inline __u64 arch_return_address(struct pt_regs *ctx)
{
	__u64 ra = 0;

	bpf_probe_read_user(&ra, sizeof(ra), (void *)PT_REGS_SP(ctx));
	return ra;
}

/* The word that a later call can look at to see whether the call at slot is still in progress. */
static __always_inline bool arch_read_slot(__u64 slot, __u64 *word)
{
	return bpf_probe_read_user(word, sizeof(*word), (void *)slot) == 0;
}

#define ARCH_SLOT_HOLDS_RETURN_ADDRESS 1

/* Other CPUs see the stores of this one in the order in which it makes them. */
#define ARCH_STORES_IN_ORDER 1

/* Whether there is a stub at addr, which jumps to a function of another library. */
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
	/* jmp *(rip), or the same after a prefix */
	return (code.begin & 0xffff) == 0x25ff || (code.begin & 0xffffff) == 0x25fff2;
}

/*
 * The function that the instruction before return_address calls; 0: it does not say which, or names
 * a stub.
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

/* The caller's registers, as far as a walk follows them. */
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

/* What the caller will find in its registers at pc, to which it will be returned. */
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

/* The slot of the call that made a frame. */
static __always_inline __u64 arch_frame_slot(__u64 cfa)
{
	return cfa - sizeof(__u64);
}

/* Where the frame keeps its caller's registers. */
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

/* When a handler has returned, struct ucontext lies at the stack pointer. */
#define ARCH_SIGNAL_FP 120
#define ARCH_SIGNAL_SP 160
#define ARCH_SIGNAL_PC 168
#define ARCH_SIGNAL_LR 0 /* none */

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

/* The return address is in a register, saved anywhere or nowhere: there is no word to look at. */
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
	/* A stub begins with adrp x16, or with that after bti c. */
	if (bpf_probe_read_user(&stub, sizeof(stub), (void *)addr) ||
	    (stub & 0x9f00001f) == 0x90000010 || stub == 0xd503245f)
		return 0;
	return addr;
}

static __always_inline void arch_caller(struct pt_regs *ctx, struct unwind_regs *ret)
{
	ret->sp = PT_REGS_SP(ctx);
	ret->fp = PT_REGS_FP(ctx);
	ret->lr = 0; /* lr held the way back to the caller, which has saved its own */
}

static __always_inline void arch_copy_registers(struct pt_regs *ctx, struct unwind_copy *copy)
{
	const struct user_pt_regs *regs = (const void *)ctx;

	for (int i = 0; i < 31; i++)
		copy->registers[i] = regs->regs[i];
	copy->registers[31] = regs->sp;
	copy->register_cnt = 32;
}

/* Drops the signature of the pointer (PAC), which stands in bits that addresses do not use. */
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

/* struct rt_sigframe lies at the stack pointer: siginfo, then ucontext, which has the registers. */
#define ARCH_SIGNAL_FP 544
#define ARCH_SIGNAL_LR 552
#define ARCH_SIGNAL_SP 560
#define ARCH_SIGNAL_PC 568

#else
#error "memleak knows x86-64 and aarch64"
#endif

#endif
