/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address space of a core, for names: the files that the process had mapped, as they lie here
 * now, if they are still the same ones.
 */
#ifndef APP_CORE_SPACE_H
#define APP_CORE_SPACE_H

#include "app/core_sorts.h"
#include "proof/core_file.h"
#include "report/symbol_backend.h"
#include "symbolizer/symbolizer.h"

struct core_space {
	struct symbol_backend backend; /* names sorts of blocks, and variables */
	struct symbolizer *symbolizer;
	struct symspace *space;
	const struct core_sorts *sorts; /* set by the caller, before backend is used */
};

/*
 * executable: the program's file; NULL: what lies where the process had it. Changes the core's
 * mappings: they get the numbers of files, and the program's own the path of executable. A file
 * that is not the one that was mapped is said on stderr, and gives no names. 0 or a negative errno.
 */
int core_space_init(struct core_file *core, const char *executable, struct core_space *ret);
void core_space_deinit(struct core_space *space);

#endif
