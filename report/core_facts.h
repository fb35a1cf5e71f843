/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a core file and its process, except the blocks of the heap. */
#ifndef REPORT_CORE_FACTS_H
#define REPORT_CORE_FACTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "report/reach.h"

struct core_thread {
	pid_t tid;
	uint64_t pc;
	/* Name of the function at pc; NULL if not known. `module` and `file` may also be NULL. */
	const char *function;
	const char *module; /* path of the program or library */
	const char *file;   /* source file */
	unsigned int line;  /* line in the source file; 0 if not known */
};

struct core_facts {
	const char *path;      /* path of the core file */
	const char *program;   /* name of the program, raw bytes; "" if not known */
	const char *arguments; /* command line, perhaps truncated, raw bytes */
	pid_t pid;
	int signal; /* signal that ended the process; 0 if none did */
	/* Threads of the process. If a signal ended the process, the first thread received it. */
	const struct core_thread *threads;
	size_t thread_cnt;
	uint64_t memory_bytes; /* bytes of memory in the core file */
	/* Bytes of memory that are missing because the core file was cut off. */
	uint64_t missing_bytes;
	uint64_t absent_bytes;  /* bytes of memory that may hold pointers but were not dumped */
	struct reach_sum used;  /* used chunks of glibc's heap, including mapped chunks */
	struct reach_sum free_; /* free chunks of glibc's heap */
	/* Bytes that the allocator uses itself or has never handed out. */
	uint64_t own_bytes;
};

#endif
