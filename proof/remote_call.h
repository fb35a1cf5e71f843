/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a stopped thread execute system calls for memleak, then restores the thread. The thread's
 * registers are overwritten until remote_caller_end(), so the tracer must not exit before that
 * call.
 */
#ifndef PROOF_REMOTE_CALL_H
#define PROOF_REMOTE_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/thread_record.h"

struct remote_caller {
	pid_t tid;
	uint64_t at; /* address of a system call instruction */
	uint64_t signal_mask;
	size_t register_bytes;
	__u64 registers[MEMLEAK_REGISTER_WORDS]; /* registers to restore afterwards */
	/* True if the thread is stopped at the exit of a system call. */
	bool in_call;
};

/*
 * Finds a system call instruction in a process; *ret: its address, 0 if there is none. Makes a
 * limited call, so the tracer must not call this. Returns 0, or -EAGAIN if the process keeps its
 * memory map locked.
 */
int remote_call_place(pid_t pid, uint64_t *ret);

/*
 * Returns the address of a stopped thread's struct rseq, 0 if there is none, or
 * MEMLEAK_SEQUENCES_UNKNOWN if the kernel does not report it.
 */
uint64_t remote_call_sequences(pid_t tid);

/*
 * Prepares a thread that was stopped by PTRACE_INTERRUPT or at its creation. at: address of a
 * system call instruction; sequences: as returned by remote_call_sequences(). is_ours: true if a
 * remote call created the thread; the kernel then kills the thread if the tracer ends. Returns 0,
 * -EAGAIN if the thread must not make a call now (e.g. in a restartable sequence), or another
 * negative errno; on failure the thread is unchanged.
 */
int remote_caller_begin(struct remote_caller *caller, pid_t tid, uint64_t at, uint64_t sequences,
			bool is_ours);

/*
 * Makes one system call. *ret: its result or negative errno. *ret_child: pid of the process that
 * the call created, which is traced and about to stop; 0 if it created none. Returns 0, or a
 * negative errno if the call was not made: the thread is gone, or cannot make a system call.
 */
int remote_call(struct remote_caller *caller, long number, const uint64_t arguments[6], long *ret,
		pid_t *ret_child);

/*
 * Makes a system call that does not return, such as exit. Returns 0 once the thread is gone, or a
 * negative errno.
 */
int remote_call_last(struct remote_caller *caller, long number);

/* Restores the stopped thread. Returns 0, or a negative errno if it is gone. */
int remote_caller_end(struct remote_caller *caller);

#endif
