/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traced processes: those that were given, those that are found, and those that come and go.
 * What the rings bring, and what is reported, it does not know.
 */
#ifndef LOADER_USER_PROCESS_SET_H
#define LOADER_USER_PROCESS_SET_H

#include "bpf/memleak.h"
#include "loader/target/image_set.h"
#include "loader/user/process_table.h"
#include "loader/user/programs.h"

struct process_set {
	struct user_programs *programs;
	struct target_filter filter;
	struct process_table table;
	int epoll_fd;            /* the pidfds, and what others add; data.ptr: a process or NULL */
	int retry_fd;            /* timer: a process is to be looked at again */
	size_t refresh_at;       /* with whom the next turn begins to read what has changed */
	size_t retry_at;         /* and to search files */
	size_t given_at;         /* and to read the given ones for a report */
	struct image_set mapped; /* images of which the programs may be told yet */
	struct image_set gone;   /* images that are no more, and not purged yet */
	size_t purge_at;         /* so many */
	uint64_t gone_blocks;    /* of images gone since the last purge: see tracker_held() */
	uint32_t given_images;   /* so many numbers have been given */
	uint64_t mappings_lost;  /* of processes that are no more; so below */
	uint64_t exec_gaps;
	uint64_t processes_lost; /* that could not be looked at, or not in time */
	size_t narrow_cnt;       /* 32-bit programs that were skipped when tracing began */
	size_t unopened_cnt;     /* processes that could not be opened then */
	int unopened_err;        /* why the last of them could not */
};

/* programs outlives it. 0 or a negative errno; to be deinited either way. */
int process_set_init(struct process_set *set, struct user_programs *programs,
		     const struct options *opts);
void process_set_deinit(struct process_set *set);
/* poll: readable when dispatch has something to do; process: NULL: something else. */
int process_set_watch(struct process_set *set, int fd, struct user_process *process);
/* Notes which processes have ended, by their pidfds, and tries again what was not finished. */
void process_set_poll(struct process_set *set);

/* NULL: none runs it. */
struct user_process *process_set_process(struct process_set *set, uint32_t image);
/* For the tracker, with a set as arg. */
bool process_set_owner(void *set, uint32_t image, struct block_owner *ret);
bool process_set_resolve(void *set, uint32_t image, struct memleak_stack *stack);
/* Whether all have ended, and none can come any more. */
bool process_set_ended(const struct process_set *set);

/* Opens and probes one by its number. 0 or a negative errno, and it has said what failed. */
int process_set_give(struct process_set *set, pid_t pid);
/* Finds those that the filter lets in; ret: so many. 0 or a negative errno. */
int process_set_find(struct process_set *set, size_t *ret);
/* With --follow: adds the running descendants of the given processes. 0 or a negative errno. */
int process_set_find_children(struct process_set *set, const pid_t *pids, size_t pid_cnt);
void process_set_describe(const struct process_set *set);

/* A process has become a target, whose mappings are those of base at first; 0: its own. */
void process_set_new(struct process_set *set, const struct memleak_record *record, uint32_t image,
		     uint32_t base);
/* Another process works in the memory of this one: its calls until now may not have been seen. */
void process_set_lend(struct process_set *set, struct user_process *process, pid_t borrower);
/* Its memory is gone, and what it is now is not traced. */
void process_set_leave(struct process_set *set, struct user_process *process);
/* The process that ran the record's image executes another program. */
void process_set_exec(struct process_set *set, const struct memleak_record *record);
void process_set_end(struct process_set *set, struct user_process *process, uint32_t unloads);
/* Ends those that have ended although no record told of it. */
void process_set_end_gone(struct process_set *set);

/* Makes a retry of what is not finished due soon. */
void process_set_retry_soon(struct process_set *set);
/* Reads those again that have loaded or unloaded code. */
void process_set_refresh_changed(struct process_set *set);
/* Reads what they have mapped, and then, with all records applied, drops mappings that are no more.
 */
void process_set_read_mappings(struct process_set *set);
void process_set_compare_mappings(struct process_set *set);
/* Reads again what the given ones have mapped, as far as there is time. */
void process_set_refresh_given(struct process_set *set);
/* Finishes deferred stacks that have come, so many of each process at most. */
void process_set_finish_stacks(struct process_set *set, size_t most);
/* Takes in all deferred stacks, and finishes them. */
void process_set_settle_stacks(struct process_set *set);

/* Finds out which images have children that have something of them. 0 or -ENOMEM. */
int process_set_find_descendants(struct process_set *set);
/* Notes which have ended: what they had at their end is in the snapshot that follows. */
void process_set_settle_ended(struct process_set *set);
/* Frees the processes that had ended by then, unless no others are left. */
void process_set_forget_ended(struct process_set *set);
/* Deletes what is held of images that are no more. */
void process_set_purge(struct process_set *set);

#endif
