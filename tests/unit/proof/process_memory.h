/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of a process that stands still, as it is. */
#ifndef TESTS_UNIT_PROOF_PROCESS_MEMORY_H
#define TESTS_UNIT_PROOF_PROCESS_MEMORY_H

#include <sys/types.h>

#include "proof/memory.h"

struct process_memory {
	struct memory memory;
	pid_t pid;
};

/* 0 or a negative errno. ret is to be given to process_memory_deinit. */
int process_memory_init(struct process_memory *memory, pid_t pid);
void process_memory_deinit(struct process_memory *memory);

#endif
