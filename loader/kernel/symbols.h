/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for kernel addresses: the symbol backend of the sites whose stacks are the kernel's. */
#ifndef LOADER_KERNEL_SYMBOLS_H
#define LOADER_KERNEL_SYMBOLS_H

#include <stdbool.h>

#include "report/report.h"

struct kernel_symbols {
	struct symbol_backend backend; /* takes the sites with SPACE_KERNEL, passes over others */
	struct symspace *space;
	uint64_t as_of_ns; /* the kernel's code as it was then is enough; 0: as it is now */
	uint64_t read_ns;  /* when it was last asked for */
	bool noted;        /* that there are no names, and why */
};

/* symbolizer outlives it. What the kernel does not tell costs names and is said once. */
int kernel_symbols_init(struct kernel_symbols *symbols, struct symbolizer *symbolizer);
/* Takes one that is all zeros. */
void kernel_symbols_deinit(struct kernel_symbols *symbols);

#endif
