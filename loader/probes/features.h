/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Features of the running kernel, found by trying them, never by version. */
#ifndef LOADER_PROBES_FEATURES_H
#define LOADER_PROBES_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

struct features {
	bool multi_links;    /* uprobe_multi links that can be bound to a process */
	bool session_links;  /* uprobe_multi links for entry and return together */
	bool cookies;        /* a number for each probe that its program can read */
	bool find_vma;       /* programs can find the mapping of an address */
	bool hash_on_demand; /* hash tables can allocate entries in any context */
	uint64_t trap_ns;    /* CPU time of one trap with an empty program; 0 if unknown */
};

void features_probe(struct features *ret);

/*
 * True if programs may use atomic exchange and compare-and-exchange (since 5.12). Older kernels
 * reject programs that contain these instructions, even if they are never reached.
 */
bool features_have_exchange(void);

/* Returns the depth of the kernel's own stack walk: wanted, or the sysctl limit if that is less. */
uint32_t features_walk_depth(uint32_t wanted);

#endif
