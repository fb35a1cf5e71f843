/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has a thread that stands still make system calls for us, after which it is as it was before. Its
 * registers are ours meanwhile: whoever does this must not end, nor give up waiting, before
 * remote_caller_end().
 */
#ifndef PROOF_REMOTE_CALL_H
#define PROOF_REMOTE_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/thread_record.h"

struct remote_caller {
	pid_t tid;
	uint64_t at; /* of an instruction that makes system calls */
	uint64_t signal_mask;
	size_t register_bytes;
	__u64 registers[MEMLEAK_REGISTER_WORDS]; /* as they were */
	bool in_call;                            /* it stands at the end of a call */
};

/* Where a process has such an instruction; 0: nowhere. */
uint64_t remote_call_place(pid_t pid);

/* Where a thread that has stopped has its struct rseq, as in struct memleak_thread_record. */
uint64_t remote_call_sequences(pid_t tid);

/*
 * tid has stopped, by PTRACE_INTERRUPT or at its birth. sequences: where it has its struct rseq; it
 * must not be in one of them, or -EAGAIN. is_ours: it was made by such calls, and
 * ends should we end. 0; -EAGAIN: it is where no call may be made; or another negative errno, and
 * it is as it was.
 */
int remote_caller_begin(struct remote_caller *caller, pid_t tid, uint64_t at, uint64_t sequences,
			bool is_ours);

/*
 * *ret: the call's result, a negative errno among them. *ret_child: a process that it made, which
 * is traced as well and about to stop; 0: none. 0 or a negative errno: the call was not made, and
 * the thread is gone, or cannot make one.
 */
int remote_call(struct remote_caller *caller, long number, const uint64_t arguments[6], long *ret,
		pid_t *ret_child);

/* Has it make a call that does not return, such as exit. */
int remote_call_last(struct remote_caller *caller, long number);

/* It stands still as before. 0 or a negative errno: it is gone. */
int remote_caller_end(struct remote_caller *caller);

#endif
