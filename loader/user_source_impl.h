/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the user source; for the user_*.c files alone. */
#ifndef USER_SOURCE_IMPL_H
#define USER_SOURCE_IMPL_H

#include <bpf/libbpf.h>

#include "bpf/memleak.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/peak.h"
#include "loader/source.h"
#include "loader/stack_copies.h"
#include "loader/tracker.h"
#include "loader/user_process.h"

struct user_peak {
	struct peak kept;
	uint64_t mapped; /* in the programs' total, as is what was taken off it again */
	uint64_t purged;
	uint64_t not_before_ns; /* for the next copy */
};

struct user_source {
	struct source source;
	struct symbol_backend symbols;
	struct user_context ctx;
	struct unwind_maps unwind;
	struct stack_copies copies;
	struct user_process **processes;
	size_t process_cnt;
	uint32_t last_image; /* the highest number given to a process */
	struct bpf_link *exec_link;
	struct bpf_link *fork_link;
	struct bpf_link *exit_link; /* NULL: thread state needs no cleaning */
	struct ring_buffer *rings;
	const struct event_listener *listener; /* during dispatch */
	int epoll_fd;
	int retry_fd; /* timer: a process was still loading its libraries */
	struct tracker tracker;
	struct user_peak peak;
	uint64_t reported_calls;
	bool told_silent;
};

struct user_process *user_source__process(const struct user_source *source, uint32_t image);

/* Makes a retry of unfinished attachments due soon. */
void user_source__retry_soon(struct user_source *source);
void user_source__retry(struct user_source *source);

/* user_loading.c: the programs, with the tables that they share and the helpers for walking. */
int user_loading__load(struct user_source *source, size_t process_cnt);
/* Those that hear of exec, fork and the end of threads. */
int user_loading__attach_lifecycle(struct user_source *source);

/* user_symbols.c */
extern const struct symbol_backend user_symbols;

/* user_records.c: what the rings bring. */
int user_records__open(struct user_source *source);
int user_records__consume(struct user_source *source, const struct event_listener *listener);
/* Finishes late stacks that have come, so many of each process at most. */
void user_records__finish_stacks(struct user_source *source, size_t most);

/*
 * user_peak.c: takes a copy when it is time to; and before a report, if there is more than ever,
 * which leaves no snapshot of before whole.
 */
int user_peak__watch(struct user_source *source);
int user_peak__report(struct user_source *source);

/* user_events.c: -t. process: NULL if its image is no more. */
void user_events__tell(struct user_source *source, struct user_process *process,
		       const struct memleak_event *event);

/* user_snapshot.c */
bool user_snapshot__settle(void *arg, uint32_t image, struct memleak_stack *stack);
bool user_snapshot__owner(void *source, uint32_t image, struct tracker_owner *ret);
int user_snapshot__take(struct user_source *source, struct snapshot *ret);

#endif
