/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Defines the opaque types of symbolizer.h. Only for use in symbolizer/ and in tests. */
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
	struct symspace *spaces; /* all address spaces of processes, including those in `kept` */
	/* if true, symspace__free() moves spaces to `kept` instead of freeing them */
	bool keeps;
	struct symspace *kept;
};

struct symspace {
	struct symbolizer *sym;
	struct kernel_space *kernel; /* the kernel's space; NULL in the space of a process */
	struct process_space process;
	struct symspace *next;  /* next space in symbolizer.kept */
	struct symspace *other; /* next space in symbolizer.spaces */
};

/* Like symspace__new_kernel(), but reads files about the kernel from the folders `roots`. */
int symspace__new_kernel_at(struct symbolizer *sym, const struct kernel_roots *roots,
			    struct symspace **ret);

#endif
