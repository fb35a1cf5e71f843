/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that give a string of just its size: how much they ask their allocator for is seen in
 * what they return. The string that they were given need not be in memory yet, the one that they
 * made is.
 */
#ifndef BPF_USER_PROBES_STRINGS_BPF_H
#define BPF_USER_PROBES_STRINGS_BPF_H

#include "bpf/track.bpf.h"
#include "bpf/user_probes/thread.bpf.h"

/* A string is read in so many pieces at most. */
#define STRING_PIECE_BYTES (1U << 16)
#define STRING_PIECES 16

/* Shared by all threads at once: nobody looks at what is read. */
char string_piece[STRING_PIECE_BYTES];

/* At the entry: whether the call may be chosen once its size is known. */
static __always_inline bool string__may_be_chosen(void)
{
	return config.sample_bytes ? tracking : chosen(config.min_size, NULL);
}

/*
 * At the return: the size, with the byte at the string's end, becomes the call's. It grows in
 * memory, as verifiers would take each length for a state of its own. If a string cannot be read to
 * its end, the size is what was read.
 */
static __always_inline void string__measure(struct thread_state *thread, __u64 addr)
{
	for (int i = 0; i < STRING_PIECES; i++) {
		long bytes = bpf_probe_read_user_str(string_piece, sizeof(string_piece),
						     (void *)(addr + thread->size));

		if (bytes < 0)
			break;
		if (bytes < STRING_PIECE_BYTES) {
			/* Older kernels return 0 for a string that has only its end. */
			thread->size += bytes ? bytes : 1;
			return;
		}
		/* A piece has an end of its own, which is not the string's. */
		thread->size += STRING_PIECE_BYTES - 1;
	}
	count(MEMLEAK_LOST_STRINGS, 1);
}

/* At the return of the call. */
static __always_inline void string__choose(struct thread_state *thread, __u64 addr)
{
	if (!thread->chosen || !addr)
		return;
	string__measure(thread, addr);
	thread->chosen = config.sample_bytes ? chosen(thread->size, &thread->countdown)
					     : wanted(thread->size);
}

#endif
