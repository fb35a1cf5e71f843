/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of one process image, present and former ones. Knows modules only as something that
 * a region can point to.
 */
#ifndef SYMBOLIZER_REGIONS_H
#define SYMBOLIZER_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/proc_maps.h"
#include "symbolizer/module.h"

struct region {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* of start in the file */
	struct file_id file;
	int64_t since_ns;      /* struct mapping */
	uint64_t beside_start; /* struct mapping */
	uint64_t beside_end;
	bool executable;
	bool deleted;
	bool kept; /* a location points here: not to be freed before the whole */
	char *path;
	struct module *module; /* NULL: none, or it could not be opened */
};

struct regions {
	struct region **live; /* by address */
	size_t live_cnt;
	struct region **gone; /* oldest first */
	size_t gone_cnt;
	size_t gone_cap;
};

/*
 * Makes maps the present state. What is as before keeps its region, what is not there any more
 * moves to the gone ones. opened is called for each executable region without a module, which it
 * may give one. Fails only with -ENOMEM, and then leaves all as it was.
 */
int regions_update(struct regions *regions, const struct proc_maps *maps,
		   int (*opened)(void *arg, struct region *region), void *arg);

/* What is mapped there, with the modules. -ENOMEM. */
int regions_copy(const struct regions *from, struct regions *ret);

/* The newest region that holds addr; NULL: none ever did. */
struct region *regions_find(const struct regions *regions, uint64_t addr);

/* The present region that holds addr; NULL: nothing is mapped there. */
struct region *regions_find_live(const struct regions *regions, uint64_t addr);

/*
 * The region of code of the file that a present region is of, where the same loader put it; also if
 * that holds what the file has no content for, behind its data. NULL: none.
 */
struct region *regions_find_code(const struct regions *regions, const struct region *region);

/* The newest one that maps code at this offset of the module; NULL: none ever did. */
struct region *regions_find_place(const struct regions *regions, const struct module *module,
				  uint64_t offset);

/* One of that file, present or former; NULL: none. */
struct region *regions_find_module(const struct regions *regions, const struct module *module);

/* Notes in the modules of all regions, present and former, that they are mapped at that moment. */
void regions_note_mapped(const struct regions *regions, uint64_t now_ns);

void regions_deinit(struct regions *regions);

#endif
