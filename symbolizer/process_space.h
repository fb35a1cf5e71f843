/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address space of one exec image (one program between two execs): the files that it maps or
 * has mapped, and its JIT code, which has no file.
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
/*
 * Reads the process's mappings and updates the space. Returns 0, -ENOMEM, or an error of
 * proc_files_maps().
 */
int process_space_refresh(struct process_space *space);

/*
 * Finds the location for a query and stores it in *ret. If something else has been mapped at the
 * address since the last query, creates a new location; the old one stays valid. Fails with
 * -ENOMEM.
 */
int process_space_find(struct process_space *space, const struct sym_query *query,
		       struct location **ret);
/*
 * Names the locations in JIT code, from the file that the JIT compiler writes (perf_map.h). Reads
 * this file again if it has changed, unless the deadline has passed. Fails with -ENOMEM.
 */
int process_space_name_jits(struct process_space *space, struct location **locs, size_t cnt,
			    uint64_t deadline_ns);
/* Copies names from loc->name, as far as they were found, to loc->pub. */
void process_space_publish(struct location *loc);

/*
 * Opens the file of a closed module again, through a mapping of the process or else by its path, if
 * it can be found.
 */
void process_space_reopen(struct process_space *space, struct module *module);
/*
 * True if the space maps or has mapped the module's file, and the file cannot be opened again, for
 * example because it was deleted.
 */
bool process_space_needs_open(const struct process_space *space, const struct module *module);

void process_space_deinit(struct process_space *space);

#endif
