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
#include "loader/stacks/deferred_stacks.h"
#include "loader/tables/cost_meter.h"
#include "loader/tables/tracker.h"
#include "loader/target/target_filter.h"
#include "loader/user/context.h"

struct user_programs {
	struct user_context ctx; /* data for all processes; points to other fields of this struct */
	struct unwind_spaces unwind;
	struct deferred_stacks deferred;
	struct shared_probes shared; /* probes of all processes; used if probes are shared */
	struct tracker tracker;
	struct descendants descendants; /* blocks that forked children inherit; for --follow */
	struct cost_meter cost;
};

/*
 * Initialises the struct without loading BPF programs. Returns 0, or a negative errno after logging
 * it; call user_programs_deinit() either way.
 */
int user_programs_init(struct user_programs *programs, const struct options *opts,
		       struct symbolizer *symbolizer);

/*
 * Loads the BPF programs. Their maps have room for process_cnt processes or, if probes are shared,
 * for all processes that may match the filter. choose() is called before loading and selects BPF
 * programs to load instead of those that track blocks; it may be NULL. Before calling this
 * function, set the callbacks of `tracker`, and the fields `owner` and `arg` of tracker.walker.
 * Returns 0, or a negative errno after logging it.
 */
int user_programs_load(struct user_programs *programs, const struct target_filter *filter,
		       size_t process_cnt, int (*choose)(void *arg, struct user_context *ctx),
		       void *arg);

/*
 * Shutdown has two steps: user_programs_detach() removes all probes, user_programs_deinit() frees
 * everything.
 */
void user_programs_detach(struct user_programs *programs);
void user_programs_deinit(struct user_programs *programs);

#endif
