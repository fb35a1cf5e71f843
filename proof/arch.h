/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything in this room that differs by architecture: what stands where among the registers of a
 * thread, which come in the order of struct memleak_thread_record.
 */
#ifndef PROOF_ARCH_H
#define PROOF_ARCH_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* Bits of a pointer that the processor does not look at. */
extern const uint64_t pointer_ignored_bits;

/* So many of a record's words are registers. */
extern const size_t registers_word_cnt;

uint64_t registers_sp(const __u64 *registers);
uint64_t registers_pc(const __u64 *registers);
/* All of them by their numbers in DWARF, and the program counter. */
void registers_to_dwarf(const uint64_t *registers, struct unwind_copy *ret);
/* Number of the system call that the thread is in; -1: it is in none. */
long registers_call(const __u64 *registers);
/* An argument of that, from 0. */
uint64_t registers_argument(const __u64 *registers, unsigned int number);

/* Whether the thread could make a system call of 64 bits; one in code of 32 could not. */
bool registers_may_call(const __u64 *registers);
/* The instruction for that, as it stands in memory. */
extern const unsigned char registers_call_code[];
extern const size_t registers_call_bytes;
/* To make a call by such an instruction, at that address. */
void registers_set_call(__u64 *registers, uint64_t at, long number, const uint64_t arguments[6]);
/* Of the call that was made: a negative errno if it is one. */
long registers_result(const __u64 *registers);

/*
 * Of a thread that was stopped: whether a system call had begun that ended because of that, and
 * that the kernel would not begin again by itself. before: as the program told them, or NULL.
 */
bool registers_were_cut_off(const __u64 *registers, const __u64 *before);
/* Has such a call begin again; a signal that is handled first ends it, as it would have. */
void registers_begin_again(__u64 *registers, const __u64 *before);

/* How much room the vector registers of a thread take at most, as the kernel keeps them. */
uint32_t registers_vector_bytes(void);
/* What ptrace calls them, NT_*; it gives them in the same order. */
extern const unsigned int registers_vector_note;
/*
 * The words that a thread has in its vector registers, of what the kernel keeps: raw, of so many
 * bytes. ret has room for as many. How many there are: registers that the thread has not used are
 * left out.
 */
size_t registers_vector_words(const void *raw, size_t bytes, uint64_t *ret);

#endif
