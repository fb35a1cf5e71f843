/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Architecture-specific code for tracing a process: program counter, breakpoints and ELF machine
 * number.
 */
#ifndef LOADER_TARGET_ARCH_H
#define LOADER_TARGET_ARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

extern const uint16_t arch_elf_machine;

/* The breakpoint instruction, in the low bytes of a 64-bit number, and a mask for these bytes. */
extern const uint64_t arch_breakpoint;
extern const uint64_t arch_breakpoint_mask;

/* Distance in bytes from a breakpoint to the program counter after its trap. */
extern const uint64_t arch_breakpoint_advance;

/*
 * Read or set the program counter of a thread that is stopped by ptrace. Return 0 or a negative
 * errno.
 */
int arch_get_pc(pid_t tid, uint64_t *ret);
int arch_set_pc(pid_t tid, uint64_t pc);

/*
 * Makes a thread trap before it executes the instruction at addr, even if that instruction is a
 * breakpoint. The thread must be stopped by ptrace. If addr is 0, removes the trap. Returns 0,
 * -ENOTSUP if the architecture has no support, or another negative errno.
 */
int arch_trap_before(pid_t tid, uint64_t addr);

/* Returns true if a thread that is stopped by ptrace has stopped at such a trap. */
bool arch_trapped_before(pid_t tid);

#endif
