/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers the files that have code in stacks; a file has the same number in all processes. */
#ifndef LOADER_AGENT_CODE_FILES_H
#define LOADER_AGENT_CODE_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "agent/account.h"
#include "loader/stacks/scripts.h"

struct symbolizer;

struct code_file {
	uint64_t ino;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t symbols; /* file number in the symbolizer, 0 if the file cannot be read */
};

struct code_files {
	struct symbolizer *symbolizer;
	struct code_file *items;
	size_t cnt;
	size_t cap;
	/* script interpreters among the files, and the functions and lines in their scripts */
	struct scripts scripts;
};

/*
 * Returns the number of a module's file; UINT32_MAX if out of memory, or if there are too many
 * files.
 */
uint32_t code_files_number(struct code_files *files, pid_t pid, const struct account_module *module,
			   const char *path);
/*
 * Makes the script frames of a process readable if the module is an interpreter. number: the file
 * number from code_files_number().
 */
void code_files_add_scripts(struct code_files *files, pid_t pid, uint32_t image, uint32_t number,
			    const struct account_module *module, const char *path);
void code_files_deinit(struct code_files *files);

#endif
