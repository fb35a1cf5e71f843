/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles functions that return an allocated string, such as strdup(). The size of the block is the
 * size of the returned string; the argument cannot be measured, because it may not be paged in yet.
 */
#ifndef BPF_USER_PROBES_STRINGS_BPF_H
#define BPF_USER_PROBES_STRINGS_BPF_H

#include "bpf/user_probes/steps.bpf.h"

/* A string is read in at most STRING_PIECES pieces. */
#define STRING_PIECE_BYTES (1U << 16)
#define STRING_PIECES 16

/*
 * Destination for reading strings. All threads share it without locking: nothing reads its
 * contents.
 */
char string_piece[STRING_PIECE_BYTES];

/* At entry: true if the call may be tracked; its size is known only at return. */
static __always_inline bool string__may_be_chosen(void)
{
	return config.sample_bytes ? tracking : chosen(config.min_size, NULL);
}

/*
 * At return: sets the call's size to the string's length including the NUL. The length is summed up
 * in memory, since verifiers would track each length in a register as a separate state. If the
 * string cannot be read completely, the size is the length that was read.
 */
static __always_inline void string__measure(struct thread_state *thread, __u64 addr)
{
	for (int i = 0; i < STRING_PIECES; i++) {
		long bytes = bpf_probe_read_user_str(string_piece, sizeof(string_piece),
						     (void *)(addr + thread->size));

		if (bytes < 0)
			break;
		if (bytes < STRING_PIECE_BYTES) {
			/* Older kernels return 0 for an empty string. */
			thread->size += bytes ? bytes : 1;
			return;
		}
		/* The buffer is full, and ends with a NUL that is not in the string. */
		thread->size += STRING_PIECE_BYTES - 1;
	}
	count(MEMLEAK_LOST_STRINGS, 1);
}

/* At return: measures the string and decides whether the call is tracked. */
static __always_inline void string__choose(struct thread_state *thread, __u64 addr)
{
	if (!thread->chosen || !addr)
		return;
	string__measure(thread, addr);
	thread->chosen = config.sample_bytes ? step__chooses(thread) : wanted(thread->size);
}

#endif
