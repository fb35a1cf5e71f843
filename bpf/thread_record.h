/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What bpf/proof/threads.bpf.c tells of each thread of a process; a part of the ABI. The same is
 * made by hand from what ptrace knows.
 */
#ifndef BPF_THREAD_RECORD_H
#define BPF_THREAD_RECORD_H

#include <linux/types.h>

/* As many words as either architecture has general registers: see arch.bpf.h and proof/arch.h. */
#define MEMLEAK_REGISTER_WORDS 40

/* Room for vector registers, a power of two: AVX-512 takes 2.7 KB, AMX 11 KB. */
#define MEMLEAK_VECTOR_BYTES (16 * 1024)

enum memleak_thread_flags {
	MEMLEAK_THREAD_ASLEEP = 1, /* it neither runs nor could: its memory does not change */
	MEMLEAK_THREAD_KNOWN = 2,  /* its registers are, unless it runs */
	MEMLEAK_THREAD_TRACES = 8, /* other processes, of which its waits tell */
	MEMLEAK_THREAD_ENDED = 4,  /* it has no memory any more, as a main thread that has exited */
};

/* Which process is to be told of, in memleak's own pid namespace. */
struct memleak_thread_query {
	__u32 tgid;
	__u32 pid_namespace; /* its inode number; 0: the initial one */
	__u32 vector_bytes;  /* at most so much of vector registers; 0: nothing of them */
	__u32 reserved;
};

#define MEMLEAK_SEQUENCES_UNKNOWN (~0ULL)

struct memleak_thread_record {
	__u32 bytes; /* of the record, with the vector registers behind it */
	__u32 tid;   /* in memleak's own pid namespace; 0: it has none there */
	__u32 flags;
	__u32 thread_cnt;   /* of the process */
	__u64 sequences;    /* where it has its struct rseq; 0: nowhere */
	__u64 switches;     /* how often it stopped running, until this was read */
	__u32 reaper;       /* who gets orphans of the process; 0: it has no number here */
	__u32 vector_bytes; /* behind it; a multiple of 8 */
	__u64 registers[MEMLEAK_REGISTER_WORDS];
};

#endif
