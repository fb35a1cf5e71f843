/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Present and former mappings (regions) of one exec image. Stores a pointer to the module of each
 * region's file, but does not open files.
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
	uint64_t offset; /* file offset that is mapped at `start` */
	struct file_id file;
	int64_t since_ns; /* time of the mmap(), as in struct mapping */
	/* address range of a neighbouring mapping of the file, as in struct mapping */
	uint64_t beside_start;
	uint64_t beside_end;
	bool executable;
	bool deleted;
	/* true if a location points to this region: free it only with all regions */
	bool kept;
	char *path;
	struct module *module; /* NULL if the region maps no file or the file was not opened */
};

struct regions {
	struct region **live; /* present regions, sorted by address */
	size_t live_cnt;
	struct region **gone; /* former regions, oldest first */
	size_t gone_cnt;
	size_t gone_cap;
};

/*
 * Replaces the present regions by those in `maps`. Keeps the regions of unchanged mappings; moves
 * regions that are no longer mapped to `gone`, or frees them. Calls opened() for executable regions
 * without a module; opened() may set the region's module. Fails only with -ENOMEM or an error of
 * opened(); then the lists of regions stay unchanged.
 */
int regions_update(struct regions *regions, const struct proc_maps *maps,
		   int (*opened)(void *arg, struct region *region), void *arg);

/* Copies the present regions of `from`, with their modules. Fails with -ENOMEM. */
int regions_copy(const struct regions *from, struct regions *ret);

/*
 * Returns the executable region that contains addr: the present one or, if there is none, the
 * latest former one. If there is none, either, returns the present region that contains addr, or
 * else NULL.
 */
struct region *regions_find(const struct regions *regions, uint64_t addr);

/* Returns the present region that contains addr; NULL if nothing is mapped there. */
struct region *regions_find_live(const struct regions *regions, uint64_t addr);

/*
 * Returns the code region of the library or program to which the present region `region` belongs;
 * NULL if there is none. `region` maps the same file, or is the zero-filled memory after the file's
 * data.
 */
struct region *regions_find_code(const struct regions *regions, const struct region *region);

/*
 * Returns a present region that maps this offset of the module's file as code or, if there is none,
 * the latest former one. Returns NULL if the offset was never mapped.
 */
struct region *regions_find_place(const struct regions *regions, const struct module *module,
				  uint64_t offset);

/* Returns a region of the module, present or former; NULL if there is none. */
struct region *regions_find_module(const struct regions *regions, const struct module *module);

/* Sets module->mapped_ns to now_ns for the modules of all present regions. */
void regions_note_mapped(const struct regions *regions, uint64_t now_ns);

void regions_deinit(struct regions *regions);

#endif
