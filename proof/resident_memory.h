/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The private memory of a process, read while the process runs. Pages that are not in memory are
 * read as zeros, even if they are swapped out.
 */
#ifndef PROOF_RESIDENT_MEMORY_H
#define PROOF_RESIDENT_MEMORY_H

#include "proof/memory.h"
#include "proof/resident_pages.h"

/* Open files of a process, and properties of the machine. */
struct rss_files {
	int mem_fd;          /* /proc/PID/mem */
	int pagemap_fd;      /* /proc/PID/pagemap */
	uint64_t zero_frame; /* see resident_pages.h */
	uint64_t page_size;
};

struct resident_memory {
	struct memory memory; /* the interface to this memory; must be the first field */
	int mem_fd;
	struct resident_pages pages;
	const struct mapping *mapping; /* cache: previous result of resident_memory_mapping() */
};

/* The files and the maps must outlive *ret, which needs no freeing. */
void resident_memory_init(const struct rss_files *files, const struct proc_maps *maps,
			  struct resident_memory *ret);

/* Returns the mapping that contains addr; NULL if there is none. */
const struct mapping *resident_memory_mapping(struct resident_memory *resident, uint64_t addr);

/*
 * True if the mapping is private and may be read. All other mappings are treated like unmapped
 * memory.
 */
bool resident_memory_has(const struct mapping *mapping);

#endif
