/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the running kernel can do, found by trying; never by its version. */
#ifndef LOADER_PROBES_FEATURES_H
#define LOADER_PROBES_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

struct features {
	bool multi_links;    /* uprobe_multi, bound to a process */
	bool session_links;  /* the same for entry and return at once */
	bool cookies;        /* a number given to each probe, which its program can ask for */
	bool find_vma;       /* a program can ask for the mapping of an address */
	bool hash_on_demand; /* hash tables may allocate entries from any context */
};

void features_probe(struct features *ret);

/*
 * Whether programs may exchange and compare words atomically, since 5.12. Kernels that do not know
 * such instructions refuse programs that have them, even where they never get to them.
 */
bool features_have_exchange(void);

/* How deep the kernel's own stack walk goes: wanted, or what a sysctl allows if that is less. */
uint32_t features_walk_depth(uint32_t wanted);

#endif
