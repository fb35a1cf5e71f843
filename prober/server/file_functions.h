/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the wanted functions of one file, and the instructions on which to place their probes. */
#ifndef PROBER_SERVER_FILE_FUNCTIONS_H
#define PROBER_SERVER_FILE_FUNCTIONS_H

#include "prober/server/function.h"

struct file_functions {
	struct found_function *items; /* functions found, exported ones first */
	size_t cnt;
	/* number of definitions that were left out because of the limits in function.h */
	uint64_t surplus_cnt;
	uint32_t indirect; /* value of elf_functions.indirect */
};

/*
 * Finds the wanted functions in the file, with their return instructions and probe places. machine:
 * required e_machine of the file. Returns 0, -ENOEXEC if the file is not a 64-bit ELF file for this
 * machine, or -ENOMEM.
 */
int file_functions_init(int fd, uint16_t machine, const struct wanted_functions *wanted,
			struct file_functions *ret);
void file_functions_deinit(struct file_functions *functions);

#endif
