/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names addresses in a core file. Names come from the files that the process had mapped, if these
 * are still on this machine and have not changed.
 */
#ifndef APP_CORE_SPACE_H
#define APP_CORE_SPACE_H

#include "app/core_sorts.h"
#include "proof/core_file.h"
#include "report/symbol_backend.h"
#include "symbolizer/symbolizer.h"

struct core_space {
	struct symbol_backend backend; /* finds the names of block types and variables */
	struct symbolizer *symbolizer;
	struct symspace *space;
	const struct core_sorts *sorts; /* set by the caller before backend is used */
};

/*
 * Prepares names for the addresses in a core. `executable` is the path of the program's file; if it
 * is NULL, the path in the core is used. Changes the core's mappings: sets the ids of files, and
 * sets the path of the program's file to `executable`. Files that differ from those that the
 * process had mapped are logged, and their symbols are not used. Returns 0 or a negative errno.
 */
int core_space_init(struct core_file *core, const char *executable, struct core_space *ret);
void core_space_deinit(struct core_space *space);

#endif
