/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up kernel addresses: functions in /proc/kallsyms, lines and inlined calls in debug files.
 */
#ifndef SYMBOLIZER_KERNEL_SPACE_H
#define SYMBOLIZER_KERNEL_SPACE_H

#include "symbolizer/kernel_symtab.h"
#include "symbolizer/location.h"
#include "symbolizer/opened_modules.h"

struct kernel_space {
	struct opened_modules *modules;
	struct kernel_symtab image;
	struct locations locations;
};

/* Reads the kernel's symbols again if they may be out of date. Fails with -ENOMEM. */
int kernel_space_refresh(struct kernel_space *space);
/*
 * Stores the locations for cnt queries in ret. If an address is unknown, reads the kernel's symbols
 * again, unless they were read a moment ago. Fails with -ENOMEM.
 */
int kernel_space_find(struct kernel_space *space, const struct sym_query *queries, size_t cnt,
		      struct location **ret);
/* Copies inlined calls and lines, as far as they were found, to loc->pub. Fails with -ENOMEM. */
int kernel_space_publish(struct location *loc);

void kernel_space_deinit(struct kernel_space *space);

#endif
