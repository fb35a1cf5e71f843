/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands behind the library's types; for its functions and its tests only. */
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
	struct symspace *spaces; /* of processes, also those that are kept */
	bool keeps;              /* freed spaces go to kept, until nobody uses them */
	struct symspace *kept;
};

struct symspace {
	struct symbolizer *sym;
	struct kernel_space *kernel; /* NULL: the space is that of a process */
	struct process_space process;
	struct symspace *next;  /* that is kept */
	struct symspace *other; /* of the symbolizer's spaces */
};

/* The kernel of other roots than the running one's. */
int symspace__new_kernel_at(struct symbolizer *sym, const struct kernel_roots *roots,
			    struct symspace **ret);

#endif
