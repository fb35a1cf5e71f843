/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loaded BPF programs, their tables, and the helpers that parse files. Does not know which
 * processes are traced.
 */
#ifndef LOADER_USER_PROGRAMS_H
#define LOADER_USER_PROGRAMS_H

#include "bpf/memleak.h"
#include "bpf/reading.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/stacks/stack_copies.h"
#include "loader/tables/cost_meter.h"
#include "loader/tables/tracker.h"
#include "loader/target/target_filter.h"
#include "loader/user/context.h"

struct user_programs {
	struct user_context ctx; /* has pointers into this struct */
	struct unwind_spaces unwind;
	struct stack_copies copies;
	struct probe_pool pool; /* used if probes are shared */
	struct tracker tracker;
	struct descendants descendants; /* used with --follow */
	struct cost_meter cost;
};

/* Loads nothing yet. Returns 0, or a negative errno after logging it; call deinit either way. */
int user_programs_init(struct user_programs *programs, const struct options *opts,
		       struct symbolizer *symbolizer);

/*
 * Loads the programs for process_cnt processes, or for all that match the filter. choose() may
 * select other programs than those that track blocks; it is called before loading and may be NULL.
 * The caller sets the tracker's owner, resolve and arg. Returns 0, or a negative errno after
 * logging it.
 */
int user_programs_load(struct user_programs *programs, const struct target_filter *filter,
		       size_t process_cnt, int (*choose)(void *arg, struct user_context *ctx),
		       void *arg);

/* Shutdown in two steps: detach stops all probes, deinit frees everything. */
void user_programs_detach(struct user_programs *programs);
void user_programs_deinit(struct user_programs *programs);

#endif
