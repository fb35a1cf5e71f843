/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of the threads of a process at the time of a picture. */
#ifndef PROOF_THREAD_STATE_H
#define PROOF_THREAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_state {
	pid_t tid;
	uint64_t sp;
	/*
	 * true if the stack pointer is known; if it is unknown for any thread, whole stacks are
	 * roots
	 */
	bool known;
	/*
	 * `words` has the general and vector registers, and the TLS base. If has_registers is set,
	 * `words` begins with the registers in the order of struct memleak_thread_record;
	 * otherwise, the order of the registers is undefined.
	 */
	bool has_registers;
	uint64_t *words;
	size_t word_cnt;
};

struct thread_states {
	struct thread_state *items;
	size_t cnt;
	size_t cap;
};

void thread_states_deinit(struct thread_states *states);

#endif
