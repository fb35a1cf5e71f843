/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Features of the running kernel. They are found by trying them, not by the version number. */
#ifndef LOADER_PROBES_FEATURES_H
#define LOADER_PROBES_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

struct features {
	bool multi_links;    /* uprobe_multi links that can be bound to a process */
	bool session_links;  /* uprobe_multi links that probe both entry and return */
	bool cookies;        /* BPF cookies: a number per probe, which the BPF program can read */
	bool find_vma;       /* BPF programs can find the mapping at an address */
	bool hash_on_demand; /* BPF hash tables can allocate entries in any context */
	uint64_t trap_ns;    /* CPU time of one trap with an empty program; 0 if unknown */
};

void features_probe(struct features *ret);

/*
 * True if BPF programs may use atomic exchange and compare-and-exchange (since 5.12). Older kernels
 * reject programs that contain these instructions, even if the instructions are never executed.
 */
bool features_have_exchange(void);

/*
 * Returns the maximum depth of stack walks by the kernel: the wanted depth, or the sysctl limit if
 * the limit is lower.
 */
uint32_t features_walk_depth(uint32_t wanted);

#endif
