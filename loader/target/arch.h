/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All architecture-specific code of the loader. No other file may test for the architecture. */
#ifndef LOADER_TARGET_ARCH_H
#define LOADER_TARGET_ARCH_H

#include <stdint.h>
#include <sys/types.h>

extern const uint16_t arch_elf_machine;

/* The breakpoint instruction as the low bytes of a word, and the mask of these bytes. */
extern const uint64_t arch_breakpoint;
extern const uint64_t arch_breakpoint_mask;

/* Distance from the breakpoint to the program counter in its trap, in bytes. */
extern const uint64_t arch_breakpoint_advance;

/* Read and set the program counter of a thread stopped by ptrace. Return 0 or a negative errno. */
int arch_get_pc(pid_t tid, uint64_t *ret);
int arch_set_pc(pid_t tid, uint64_t pc);

/*
 * Makes a thread stopped by ptrace trap each time before it executes the instruction at addr, even
 * if a breakpoint is there. addr 0 ends it. Returns -ENOTSUP if the architecture has no support.
 */
int arch_trap_before(pid_t tid, uint64_t addr);

#endif
