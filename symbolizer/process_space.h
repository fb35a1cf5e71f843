/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of one process image: what was mapped where, and code that has no file. */
#ifndef SYMBOLIZER_PROCESS_SPACE_H
#define SYMBOLIZER_PROCESS_SPACE_H

#include "symbolizer/location.h"
#include "symbolizer/opened_modules.h"
#include "symbolizer/perf_map.h"
#include "symbolizer/proc_image.h"
#include "symbolizer/regions.h"

struct process_space {
	struct opened_modules *modules;
	struct proc_image image;
	struct regions regions;
	struct locations locations;
	struct perf_map jit;
};

/* Makes maps what the process has mapped now. -ENOMEM. */
int process_space_update(struct process_space *space, const struct proc_maps *maps);
/* Reads what it has mapped. -ESRCH: the image is gone; -ENOMEM. */
int process_space_refresh(struct process_space *space);

/*
 * The location of a query. One that was found earlier is replaced when something else has been
 * mapped there since; who holds the old one keeps it.
 */
int process_space_find(struct process_space *space, const struct sym_query *query,
		       struct location **ret);
/* Names compiled code from the map that its compiler writes, which is read when it has grown. */
int process_space_name_jits(struct process_space *space, struct location **locs, size_t cnt,
			    uint64_t deadline_ns);
/* Copies what the module knows by now to the location. */
void process_space_publish(struct location *loc);

/* Opens the file of a module that was closed, where the space has, or had, it mapped. */
void process_space_reopen(struct process_space *space, struct module *module);

void process_space_deinit(struct process_space *space);

#endif
