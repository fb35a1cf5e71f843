/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything in proof/ that depends on the architecture: the layout of a thread's registers, and
 * how a thread makes a system call. Registers are in the order of struct memleak_thread_record.
 */
#ifndef PROOF_ARCH_H
#define PROOF_ARCH_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* Bits of a pointer that the processor ignores. */
extern const uint64_t pointer_ignored_bits;

/* Number of registers in a struct memleak_thread_record. */
extern const size_t registers_word_cnt;

uint64_t registers_sp(const __u64 *registers);
uint64_t registers_pc(const __u64 *registers);
/* Copies the general registers, in the order of their DWARF numbers, and the program counter. */
void registers_to_dwarf(const uint64_t *registers, struct unwind_copy *ret);
/* Returns the number of the system call that the thread is in, -1 if it is in none. */
long registers_call(const __u64 *registers);
/* Returns an argument, counted from 0, of the system call that the thread is in. */
uint64_t registers_argument(const __u64 *registers, unsigned int number);

/* True if the thread can make a 64-bit system call: a thread in 32-bit code cannot. */
bool registers_may_call(const __u64 *registers);
/* Machine code of the instruction that makes a system call. */
extern const unsigned char registers_call_code[];
extern const size_t registers_call_bytes;
/* Sets the registers so that the thread makes a system call by the instruction at `at`. */
void registers_set_call(__u64 *registers, uint64_t at, long number, const uint64_t arguments[6]);
/* Returns the result of the system call just made, a negative errno if it failed. */
long registers_result(const __u64 *registers);

/*
 * True if the registers that ptrace returns for a stopped thread include the first argument of the
 * system call that the stop interrupted. If false, only the record of the BPF program (struct
 * memleak_thread_record) has this argument.
 */
extern const bool registers_keep_argument;
/*
 * True if stopping the thread interrupted a system call that the kernel does not restart on its
 * own. before: registers in the record of the BPF program, or NULL if there is no record.
 */
bool registers_were_cut_off(const __u64 *registers, const __u64 *before);
/*
 * Changes the registers so that the thread repeats the interrupted system call when it resumes.
 * before: as for registers_were_cut_off(). On x86-64, the call fails with EINTR if a signal handler
 * runs first, as it would have without the stop.
 */
void registers_begin_again(__u64 *registers, const __u64 *before);

/* Returns the maximum size in bytes of a thread's vector registers, in the kernel's format. */
uint32_t registers_vector_bytes(void);
/* NT_* number of the register set with which ptrace returns the vector registers. */
extern const unsigned int registers_vector_note;
/*
 * Copies vector registers as 64-bit words, without unused registers. raw: registers in the kernel's
 * format; bytes: size of raw; ret: array of at least the same size. Returns the number of words.
 */
size_t registers_vector_words(const void *raw, size_t bytes, uint64_t *ret);

#endif
