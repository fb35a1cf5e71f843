/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of one process image: present and former mappings, and JIT code, which has no file. */
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

/* Replaces the space's present mappings by maps. Fails with -ENOMEM. */
int process_space_update(struct process_space *space, const struct proc_maps *maps);
/* Reads the process's mappings. Returns -ESRCH if the image is gone, or -ENOMEM. */
int process_space_refresh(struct process_space *space);

/*
 * Returns the location for a query. A location found earlier is replaced if something else has been
 * mapped at its address since; the replaced one stays valid.
 */
int process_space_find(struct process_space *space, const struct sym_query *query,
		       struct location **ret);
/* Names JIT code from the map that the JIT compiler writes, which is read again if it has grown. */
int process_space_name_jits(struct process_space *space, struct location **locs, size_t cnt,
			    uint64_t deadline_ns);
/* Copies the module's present knowledge to the location. */
void process_space_publish(struct location *loc);

/* Reopens a closed module's file, if the space has or had it mapped. */
void process_space_reopen(struct process_space *space, struct module *module);

void process_space_deinit(struct process_space *space);

#endif
