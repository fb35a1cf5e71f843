/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The structs behind the library's opaque types. Only for the library itself and for tests. */
#ifndef SYMBOLIZER_STATE_H
#define SYMBOLIZER_STATE_H

#include "symbolizer/client.h"
#include "symbolizer/fetcher.h"
#include "symbolizer/kernel_space.h"
#include "symbolizer/opened_modules.h"
#include "symbolizer/process_space.h"

struct symbolizer {
	struct client client;
	struct fetcher fetcher;
	struct opened_modules modules;
	struct symspace *spaces; /* spaces of processes, including freed ones that are kept */
	/* if true, symspace__free() moves spaces to `kept` instead of releasing them */
	bool keeps;
	struct symspace *kept;
};

struct symspace {
	struct symbolizer *sym;
	struct kernel_space *kernel; /* NULL for a process's space */
	struct process_space process;
	struct symspace *next;  /* next space in symbolizer.kept */
	struct symspace *other; /* next space in symbolizer.spaces */
};

/* Like symspace__new_kernel(), but reads the kernel's files from other folders. */
int symspace__new_kernel_at(struct symbolizer *sym, const struct kernel_roots *roots,
			    struct symspace **ret);

#endif
