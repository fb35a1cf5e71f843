/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the user source; for the user_*.c files alone. */
#ifndef USER_SOURCE_IMPL_H
#define USER_SOURCE_IMPL_H

#include <bpf/libbpf.h>

#include "bpf/memleak.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/members.h"
#include "loader/process_table.h"
#include "loader/source.h"
#include "loader/stack_copies.h"
#include "loader/tracker.h"
#include "loader/user_process.h"
#include "report/counts.h"
#include "report/peak.h"

struct user_peak {
	struct peak kept;
	uint64_t mapped; /* in the programs' total, as is what was taken off it again */
	uint64_t purged;
	uint64_t not_before_ns; /* for the next copy */
};

struct user_count {
	struct counts counts; /* as of the last report; rows by key */
	size_t cap;
	uint64_t last_ns;
	char *mount;      /* by cgroup: of its hierarchy; NULL: nowhere */
	bool mount_whole; /* which has all cgroups that there are */
};

struct user_source {
	struct source source;
	struct symbol_backend symbols;
	struct user_context ctx;
	struct unwind_maps unwind;
	struct stack_copies copies;
	struct members members;
	struct probe_pool pool;
	uint64_t pool_swept_ns; /* when its files were looked for last */
	struct process_table processes;
	size_t purge_at;         /* so many */
	struct image_set mapped; /* images of which the programs may be told yet */
	struct image_set gone;   /* images that are no more, and not purged yet */
	uint32_t given_images;   /* so many numbers have been given */
	uint64_t mappings_lost;  /* of processes that are no more; so below */
	uint64_t exec_gaps;
	uint64_t processes_lost; /* that could not be looked at */
	struct bpf_link *exec_link;
	struct bpf_link *fork_link;
	struct bpf_link *exit_link;
	struct bpf_link *move_link; /* NULL: no cgroup is traced; so below */
	struct bpf_link *mkdir_link;
	struct ring_buffer *rings;
	const struct event_listener *listener; /* during dispatch */
	int epoll_fd;
	int retry_fd;  /* timer: a process was still loading its libraries */
	int cgroup_fd; /* timer: the cgroup may be another one by now; -1: none is traced */
	bool cgroup_gone;
	struct tracker tracker;
	struct user_peak peak;
	struct user_count count;
	struct heirs heirs; /* with --follow */
	uint64_t reported_calls;
	bool told_silent;
};

struct user_process *user_source__process(struct user_source *source, uint32_t image);

/* user_members.c: processes that are found, and those that come and go while tracing */
/* Those that are there; ret: so many. */
int user_members__find(struct user_source *source, size_t *ret);
void user_members__describe(const struct user_source *source);
/* A number for an image. */
uint32_t user_members__number(struct user_source *source);
/* One has become a target, whose mappings are those of base at first; 0: its own. */
void user_members__new(struct user_source *source, const struct memleak_record *record,
		       uint32_t image, uint32_t base);
/* Its memory is gone, and what it is now is not traced. */
void user_members__leave(struct user_source *source, struct user_process *process);
/* It executes another program; NULL: it was not known. */
void user_members__exec(struct user_source *source, struct user_process *process,
			const struct memleak_record *record);
void user_members__end(struct user_source *source, struct user_process *process, uint32_t unloads);
/* Those that have ended although no record told of it. */
void user_members__end_gone(struct user_source *source);
/* Frees one that has ended, by its index. */
void user_members__remove(struct user_source *source, size_t at);
/* An image is no more: what is held of it is deleted with the next purge. */
void user_members__drop(struct user_source *source, uint32_t image);
void user_members__purge(struct user_source *source);
/* Which images have children that have something of them. 0 or -ENOMEM. */
int user_members__find_heirs(struct user_source *source);

/* user_cgroup.c: a cgroup that is made anew while it is traced. */
int user_cgroup__open(struct user_source *source);
void user_cgroup__check(struct user_source *source);

/* Opens and probes a process that is to be, or is, a target. Returns 0 or a negative errno. */
int user_source__add(struct user_source *source, struct user_process *process);

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

/* user_count.c: --count. The programs that are loaded; before tracing; a report; the end. */
int user_count__choose(struct user_source *source);
int user_count__start(struct user_source *source);
int user_count__take(struct user_source *source, struct snapshot *ret);
void user_count__deinit(struct user_count *count);

/* user_events.c: -t. process: NULL if its image is no more. */
void user_events__tell(struct user_source *source, struct user_process *process,
		       const struct memleak_event *event);

/* user_pool.c: removes probes that nobody runs into any more, now and then. */
void user_pool__sweep(struct user_source *source);

/* user_snapshot.c */
bool user_snapshot__settle(void *arg, uint32_t image, struct memleak_stack *stack);
bool user_snapshot__owner(void *source, uint32_t image, struct tracker_owner *ret);
int user_snapshot__take(struct user_source *source, struct snapshot *ret);

#endif
