/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every traced process shares: the loaded programs, and who knows what of code. */
#ifndef LOADER_USER_CONTEXT_H
#define LOADER_USER_CONTEXT_H

#include "loader/probes/probe_pool.h"
#include "loader/stacks/unwind_spaces.h"
#include "options/options.h"

struct map_events;
struct stack_copies;
struct symbolizer;
struct user_bpf;

struct user_context {
	const struct options *opts;
	struct user_bpf *skel;
	struct symbolizer *symbolizer;
	struct probe_programs programs;
	bool entries_only; /* calls are counted: neither returns nor mappings are probed */
	struct unwind_spaces *unwind;
	struct stack_copies *copies;
	struct map_events *map_events; /* NULL: processes do not come and go */
	struct probe_pool *pool;       /* NULL: each process has probes of its own */
	uint64_t deadline_ns;          /* of the report, or turn, that is under way */
};

#endif
