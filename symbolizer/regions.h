/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Present and former mappings of one process image. Knows modules only as something that a region
 * can point to.
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
	int64_t since_ns;      /* as in struct mapping */
	uint64_t beside_start; /* as in struct mapping */
	uint64_t beside_end;
	bool executable;
	bool deleted;
	bool kept; /* a location points here: freed only with all regions */
	char *path;
	/* module of the file; NULL if there is none, or it could not be opened */
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
 * Makes maps the present mappings. Unchanged mappings keep their region; vanished ones move to
 * gone. opened() is called for each executable region without a module and may set one. Fails only
 * with -ENOMEM, and then changes nothing.
 */
int regions_update(struct regions *regions, const struct proc_maps *maps,
		   int (*opened)(void *arg, struct region *region), void *arg);

/* Copies the present regions with their modules. Fails with -ENOMEM. */
int regions_copy(const struct regions *from, struct regions *ret);

/* Returns the newest region, present or former, that contains addr; NULL if there is none. */
struct region *regions_find(const struct regions *regions, uint64_t addr);

/* Returns the present region that contains addr; NULL if nothing is mapped there. */
struct region *regions_find_live(const struct regions *regions, uint64_t addr);

/*
 * Returns the code region that the loader mapped together with a present region of the same file.
 * Works for the zero-filled memory behind the file's data as well. NULL if there is none.
 */
struct region *regions_find_code(const struct regions *regions, const struct region *region);

/* Returns the newest region that maps code at this offset of the module; NULL if there is none. */
struct region *regions_find_place(const struct regions *regions, const struct module *module,
				  uint64_t offset);

/* Returns a region of the module, present or former; NULL if there is none. */
struct region *regions_find_module(const struct regions *regions, const struct module *module);

/* Records now_ns as the time at which the modules of all present and former regions were mapped. */
void regions_note_mapped(const struct regions *regions, uint64_t now_ns);

void regions_deinit(struct regions *regions);

#endif
