/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names kernel addresses: the symbol backend for sites with kernel stacks. */
#ifndef LOADER_KERNEL_SYMBOLS_H
#define LOADER_KERNEL_SYMBOLS_H

#include <stdbool.h>

#include "report/report.h"

struct kernel_symbols {
	struct symbol_backend
		/*
		 * base class: handles sites with SPACE_KERNEL, and skips sites with another space
		 */
		backend;
	struct symspace *space;
	/*
	 * a refresh is skipped if the last refresh is later than this time; 0 to refresh symbols
	 * before each use
	 */
	uint64_t as_of_ns;
	uint64_t read_ns; /* time of the last refresh */
	bool noted;       /* true if a message about missing names was logged */
};

/*
 * Initialises the backend; symbolizer must outlive it. If the kernel hides symbols, frames have no
 * names, and one message is logged.
 */
int kernel_symbols_init(struct kernel_symbols *symbols, struct symbolizer *symbolizer);
/* Frees the backend. A zeroed backend is also accepted. */
void kernel_symbols_deinit(struct kernel_symbols *symbols);

#endif
