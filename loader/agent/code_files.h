/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files whose code stands in stacks, by number: the same one for all processes that have it. */
#ifndef LOADER_AGENT_CODE_FILES_H
#define LOADER_AGENT_CODE_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "agent/account.h"

struct symbolizer;

struct code_file {
	uint64_t ino;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t symbols; /* its number with the symbolizer; 0: it cannot be read */
};

struct code_files {
	struct symbolizer *symbolizer;
	struct code_file *items;
	size_t cnt;
	size_t cap;
};

/* The number of the file that a process has mapped; UINT32_MAX: no memory. */
uint32_t code_files_number(struct code_files *files, pid_t pid, const struct account_module *module,
			   const char *path);
void code_files_deinit(struct code_files *files);

#endif
