/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Present and former mappings of one process image. Stores a pointer to a module for each region,
 * but does not open modules.
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
	uint64_t offset; /* file offset mapped at start */
	struct file_id file;
	int64_t since_ns; /* time of the mmap(), as in struct mapping */
	/* address range of a neighbouring mapping of the file, as in struct mapping */
	uint64_t beside_start;
	uint64_t beside_end;
	bool executable;
	bool deleted;
	/* a location points to this region, which must stay until all regions are freed */
	bool kept;
	char *path;
	/* module of the file; NULL if there is no file or it could not be opened */
	struct module *module;
};

struct regions {
	struct region **live; /* present regions, sorted by address */
	size_t live_cnt;
	struct region **gone; /* former regions, oldest first */
	size_t gone_cnt;
	size_t gone_cap;
};

/*
 * Replaces the present regions by those in `maps`. The region of an unchanged mapping is kept;
 * regions of vanished mappings move to `gone` or are freed. opened() is called for each executable
 * region without a module and may set the region's module. Fails only with -ENOMEM or an error of
 * opened(); then the lists of regions stay unchanged.
 */
int regions_update(struct regions *regions, const struct proc_maps *maps,
		   int (*opened)(void *arg, struct region *region), void *arg);

/* Copies the present regions of `from`, with their modules. Fails with -ENOMEM. */
int regions_copy(const struct regions *from, struct regions *ret);

/*
 * Returns the newest code region, present or former, that contains addr. If there is none, returns
 * the present region that contains addr, or NULL.
 */
struct region *regions_find(const struct regions *regions, uint64_t addr);

/* Returns the present region that contains addr; NULL if nothing is mapped there. */
struct region *regions_find_live(const struct regions *regions, uint64_t addr);

/*
 * Returns the code region that the dynamic linker mapped together with the present region `region`,
 * from the same file; NULL if there is none. `region` may also be the zero-filled memory after the
 * file's data.
 */
struct region *regions_find_code(const struct regions *regions, const struct region *region);

/* Returns the newest region that maps code at this offset of the module; NULL if there is none. */
struct region *regions_find_place(const struct regions *regions, const struct module *module,
				  uint64_t offset);

/* Returns a region of the module, present or former; NULL if there is none. */
struct region *regions_find_module(const struct regions *regions, const struct module *module);

/* Sets mapped_ns to now_ns in the modules of all present regions. */
void regions_note_mapped(const struct regions *regions, uint64_t now_ns);

void regions_deinit(struct regions *regions);

#endif
