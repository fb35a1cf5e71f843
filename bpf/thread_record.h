/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of a process's threads, made by the BPF programs in bpf/proof/, or by the loader from
 * ptrace data. Part of the ABI.
 */
#ifndef BPF_THREAD_RECORD_H
#define BPF_THREAD_RECORD_H

#include <linux/types.h>

/* Maximum number of general registers, on any architecture: see arch.bpf.h and proof/arch.h. */
#define MEMLEAK_REGISTER_WORDS 40

/* Room for vector registers, a power of two: AVX-512 takes 2.7 KB, AMX 11 KB. */
#define MEMLEAK_VECTOR_BYTES (16 * 1024)

enum memleak_thread_flags {
	MEMLEAK_THREAD_ASLEEP = 1, /* neither running nor runnable, so it does not change memory */
	MEMLEAK_THREAD_KNOWN = 2,  /* the registers are valid, unless the thread is running */
	MEMLEAK_THREAD_TRACES = 8, /* a ptrace tracer: its wait calls also report its tracees */
	MEMLEAK_THREAD_ENDED = 4,  /* has no address space any more, like an exited main thread */
};

/* The process to report on, in memleak's own pid namespace. */
struct memleak_thread_query {
	__u32 tgid;
	__u32 pid_namespace; /* inode of the namespace; 0 for the initial one */
	__u32 vector_bytes;  /* maximum number of bytes of vector registers; 0: report none */
	__u32 reserved;
};

#define MEMLEAK_SEQUENCES_UNKNOWN (~0ULL)

struct memleak_thread_record {
	__u32 bytes; /* size of the record, including vector registers */
	__u32 tid;   /* the thread's tid in memleak's pid namespace; 0 if it has none there */
	__u32 flags;
	__u32 thread_cnt;   /* number of threads in the process */
	__u64 sequences;    /* struct rseq's address; 0 if none, or MEMLEAK_SEQUENCES_UNKNOWN */
	__u64 switches;     /* number of the thread's context switches so far */
	__u32 reaper;       /* pid that will adopt the children; 0 if not in the namespace */
	__u32 vector_bytes; /* bytes of vector registers after the record; a multiple of 8 */
	__u64 registers[MEMLEAK_REGISTER_WORDS];
};

#endif
