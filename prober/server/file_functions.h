/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the wanted functions of one file, with all that is needed to probe them. */
#ifndef PROBER_SERVER_FILE_FUNCTIONS_H
#define PROBER_SERVER_FILE_FUNCTIONS_H

#include "prober/server/function.h"

struct file_functions {
	struct found_function *items; /* functions found, exported ones first */
	size_t cnt;
	uint64_t surplus_cnt; /* number of definitions left out because of the limits per file */
	uint32_t indirect;    /* as in struct elf_functions */
};

/*
 * Finds the wanted functions in the file, with their return instructions and probe places. machine:
 * required e_machine of the file. Returns 0, -ENOEXEC (not an ELF file for this machine) or another
 * negative errno.
 */
int file_functions_init(int fd, uint16_t machine, const struct wanted_functions *wanted,
			struct file_functions *ret);
void file_functions_deinit(struct file_functions *functions);

#endif
