/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of a stopped process, which is read directly from the process. */
#ifndef TESTS_UNIT_PROOF_PROCESS_MEMORY_H
#define TESTS_UNIT_PROOF_PROCESS_MEMORY_H

#include <sys/types.h>

#include "proof/memory.h"

struct process_memory {
	struct memory memory;
	pid_t pid;
};

/* Returns 0 or a negative errno. Free with process_memory_deinit(). */
int process_memory_init(struct process_memory *memory, pid_t pid);
void process_memory_deinit(struct process_memory *memory);

#endif
