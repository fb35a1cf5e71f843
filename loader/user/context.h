/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State that all traced processes share: options, loaded BPF programs, unwind tables, symbolizer.
 */
#ifndef LOADER_USER_CONTEXT_H
#define LOADER_USER_CONTEXT_H

#include "loader/probes/shared_probes.h"
#include "loader/stacks/unwind_spaces.h"
#include "options/options.h"

struct map_events;
struct symbolizer;
struct user_bpf;

struct user_context {
	const struct options *opts;
	struct user_bpf *skel;
	struct symbolizer *symbolizer;
	struct probe_programs programs;
	/* true with --count: probe only entries of functions, and no mapping functions */
	bool entries_only;
	struct unwind_spaces *unwind;
	struct map_events *map_events; /* the kernel's mapping records; NULL if `shared` is NULL */
	struct shared_probes *shared;  /* probes of all processes; NULL if each has its own */
	uint64_t deadline_ns;          /* deadline of the current report or iteration */
};

#endif
