/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that is to be known of the wanted functions of one file. */
#ifndef PROBER_SERVER_FILE_FUNCTIONS_H
#define PROBER_SERVER_FILE_FUNCTIONS_H

#include "prober/server/function.h"

struct file_functions {
	struct found_function *items; /* exported ones first */
	size_t cnt;
	uint64_t left; /* definitions that are beyond what one file may have */
};

/*
 * Finds them in the file, with their places. machine is that of the files that count. Returns 0,
 * -ENOEXEC (no ELF file of this kind) or another negative errno.
 */
int file_functions_init(int fd, uint16_t machine, const struct wanted_functions *wanted,
			struct file_functions *ret);
void file_functions_deinit(struct file_functions *functions);

#endif
