/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the kernel's code: functions in /proc/kallsyms, lines in debug files. */
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
 * Returns the locations for cnt queries. Reads the kernel's symbols again if an address is unknown.
 */
int kernel_space_find(struct kernel_space *space, const struct sym_query *queries, size_t cnt,
		      struct location **ret);
/* Copies the inlined calls and lines found so far to the location. Fails with -ENOMEM. */
int kernel_space_publish(struct location *loc);

void kernel_space_deinit(struct kernel_space *space);

#endif
