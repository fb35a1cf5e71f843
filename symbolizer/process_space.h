/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of one process image: the files that it maps or has mapped, and JIT code, which has no
 * file.
 */
#ifndef SYMBOLIZER_PROCESS_SPACE_H
#define SYMBOLIZER_PROCESS_SPACE_H

#include "symbolizer/location.h"
#include "symbolizer/opened_modules.h"
#include "symbolizer/perf_map.h"
#include "symbolizer/proc_files.h"
#include "symbolizer/regions.h"

struct process_space {
	struct opened_modules *modules;
	struct proc_files image;
	struct regions regions;
	struct locations locations;
	struct perf_map jit;
};

/* Replaces the space's present mappings by those in `maps`. Fails with -ENOMEM. */
int process_space_update(struct process_space *space, const struct proc_maps *maps);
/* Reads the process's mappings. Returns -ESRCH if the image is gone, or -ENOMEM. */
int process_space_refresh(struct process_space *space);

/*
 * Returns the location for a query. If something else has been mapped at its address since the last
 * query, a new location replaces the old one, which stays valid.
 */
int process_space_find(struct process_space *space, const struct sym_query *query,
		       struct location **ret);
/*
 * Names JIT code from the map that the JIT compiler writes. Reads the map again if it has changed.
 */
int process_space_name_jits(struct process_space *space, struct location **locs, size_t cnt,
			    uint64_t deadline_ns);
/* Copies the names found so far in the location's module to the location. */
void process_space_publish(struct location *loc);

/* Reopens a closed module's file through a mapping of the space, or else by its path. */
void process_space_reopen(struct process_space *space, struct module *module);
/*
 * True if the space maps or has mapped the module's file, and the file cannot be opened again, for
 * example because it was deleted.
 */
bool process_space_needs_open(const struct process_space *space, const struct module *module);

void process_space_deinit(struct process_space *space);

#endif
