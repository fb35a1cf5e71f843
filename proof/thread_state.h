/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of a process had in their registers when a picture of its memory was taken. */
#ifndef PROOF_THREAD_STATE_H
#define PROOF_THREAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_state {
	pid_t tid;
	uint64_t sp;
	bool known; /* its registers are; else its stack is to be taken as a whole */
	/*
	 * General and vector registers and the base of its TLS, as words; has_registers: first
	 * those of a struct memleak_thread_record, else in no particular order.
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
