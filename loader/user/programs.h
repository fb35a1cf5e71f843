/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loaded user programs, with the tables that they share, and the helpers that know code. Which
 * processes there are it does not know.
 */
#ifndef LOADER_USER_PROGRAMS_H
#define LOADER_USER_PROGRAMS_H

#include "bpf/memleak.h"
#include "bpf/reading.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/stacks/stack_copies.h"
#include "loader/tables/tracker.h"
#include "loader/target/target_filter.h"
#include "loader/user/context.h"

struct user_programs {
	struct user_context ctx; /* points into this */
	struct unwind_spaces unwind;
	struct stack_copies copies;
	struct probe_pool pool; /* if probes are shared */
	struct tracker tracker;
	struct descendants descendants; /* with --follow */
};

/* Nothing is loaded yet. 0 or a negative errno, and it has said what failed; to be deinited. */
int user_programs_init(struct user_programs *programs, const struct options *opts,
		       struct symbolizer *symbolizer);

/*
 * For so many processes, or those that the filter lets in. choose: makes programs others than
 * those that track blocks be loaded, before anything is; NULL: those. The tracker's owner, resolve
 * and arg are the caller's to set. 0 or a negative errno, and it has said what failed.
 */
int user_programs_load(struct user_programs *programs, const struct target_filter *filter,
		       size_t process_cnt, int (*choose)(void *arg, struct user_context *ctx),
		       void *arg);

/* Two steps to the end: no probe sends anything any more; all is freed. */
void user_programs_detach(struct user_programs *programs);
void user_programs_deinit(struct user_programs *programs);

#endif
