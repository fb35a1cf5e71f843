/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a core file says of its process, beside the blocks of its heap. */
#ifndef REPORT_CORE_FACTS_H
#define REPORT_CORE_FACTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "report/reach.h"

struct core_thread {
	pid_t tid;
	uint64_t pc;
	const char *function; /* that it is in; NULL: not known, as all below */
	const char *module;   /* path of the file */
	const char *file;     /* of the source */
	unsigned int line;    /* 0: not known */
};

struct core_facts {
	const char *path;      /* of the core */
	const char *program;   /* its name, raw bytes; "": not known */
	const char *arguments; /* the command line, which may be cut off, raw bytes */
	pid_t pid;
	int signal;                        /* that ended it; 0: none did */
	const struct core_thread *threads; /* the one that ended the process is the first */
	size_t thread_cnt;
	uint64_t memory_bytes;  /* that the core has */
	uint64_t missing_bytes; /* that were cut off */
	uint64_t absent_bytes;  /* that it was made without, of memory that may hold pointers */
	struct reach_sum used;  /* chunks of glibc's heap, with those that have their own mapping */
	struct reach_sum free_;
	uint64_t own_bytes; /* the allocator's own, and what it has never handed out */
};

#endif
