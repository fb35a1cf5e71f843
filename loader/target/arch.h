/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything in the loader that differs by architecture. Nothing else may ask which one it is.
 */
#ifndef LOADER_TARGET_ARCH_H
#define LOADER_TARGET_ARCH_H

#include <stdint.h>
#include <sys/types.h>

extern const uint16_t arch_elf_machine;

/* The breakpoint instruction, as the low bytes of a word, and the mask of those bytes. */
extern const uint64_t arch_breakpoint;
extern const uint64_t arch_breakpoint_mask;

/* How far behind a breakpoint the program counter of its trap is, in bytes. */
extern const uint64_t arch_breakpoint_advance;

/* Program counter of a thread stopped by ptrace. Return 0 or a negative errno. */
int arch_get_pc(pid_t tid, uint64_t *ret);
int arch_set_pc(pid_t tid, uint64_t pc);

/*
 * Has a thread stopped by ptrace trap before it executes what is at addr, each time, whatever
 * breakpoint instruction stands there; 0: no more. -ENOTSUP where that is not known to work.
 */
int arch_trap_before(pid_t tid, uint64_t addr);

#endif
