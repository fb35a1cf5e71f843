/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything in the BPF programs that differs by architecture. Nothing else may ask which one
 * it is.
 *
 * A call is known by its *slot*: on x86-64 the address of the stack word that holds its return
 * address, on aarch64 the stack pointer at entry. It is the same number seen from the entry
 * probe and from the return probe of one call, and lower for calls made inside it.
 */
#ifndef ARCH_BPF_H
#define ARCH_BPF_H

#include "bpf/compat.bpf.h"

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

/* Return address of the call that was just made; 0 if it cannot be read. */
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

#else
#error "memleak knows x86-64 and aarch64"
#endif

#endif
