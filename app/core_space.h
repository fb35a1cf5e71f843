/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names addresses in a core file. The names come from the files that the process had mapped, if
 * these files are still on this machine and have not changed.
 */
#ifndef APP_CORE_SPACE_H
#define APP_CORE_SPACE_H

#include "app/core_sorts.h"
#include "proof/core_file.h"
#include "report/symbol_backend.h"
#include "symbolizer/symbolizer.h"

struct core_space {
	/* finds the names of block types, and of variables that hold blocks */
	struct symbol_backend backend;
	struct symbolizer *symbolizer;
	struct symspace *space;
	const struct core_sorts *sorts; /* set by the caller before `backend` is used */
};

/*
 * Prepares the lookup of names for the addresses in a core file. `executable` is the path of the
 * program's file; NULL for the path in the core file. Changes the mappings in `core`: sets the
 * device and inode numbers of files, and the path of the program's file. If a file differs from the
 * one that the process had mapped, logs this and does not use its symbols. Returns 0 or a negative
 * errno.
 */
int core_space_init(struct core_file *core, const char *executable, struct core_space *ret);
void core_space_deinit(struct core_space *space);

#endif
