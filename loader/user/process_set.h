/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traced processes: those given by pid, those found by a filter, and those that come and go.
 * Does not know the ring buffers or what is reported.
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
	int epoll_fd;            /* pidfds and other descriptors; data.ptr is a process or NULL */
	int retry_fd;            /* timer: processes need another attempt */
	size_t refresh_at;       /* index at which the next turn begins to read changed processes */
	size_t retry_at;         /* index at which the next turn begins to retry attaching */
	size_t given_at;         /* index at which the next report begins to read given processes */
	struct image_set mapped; /* ended images whose unwind spaces are not dropped yet */
	struct image_set gone;   /* images that have ended and are not purged yet */
	size_t purge_at;         /* number of ended images at which a purge is due */
	uint64_t gone_blocks;    /* blocks of images ended since the last purge: tracker_held() */
	uint32_t given_images;   /* counter for numbers of images */
	uint64_t mappings_lost;  /* mappings lost by removed processes */
	uint64_t exec_gaps;      /* exec gaps of removed processes */
	uint64_t processes_lost; /* processes that could not be examined, or not in time */
	size_t narrow_cnt;       /* 32-bit programs that were skipped when tracing began */
	size_t unopened_cnt;     /* processes that could not be opened when tracing began */
	int unopened_err;        /* error of the last one that could not be opened */
};

/* programs must outlive the set. Returns 0 or a negative errno; call deinit either way. */
int process_set_init(struct process_set *set, struct user_programs *programs,
		     const struct options *opts);
void process_set_deinit(struct process_set *set);
/* Adds fd to the descriptors that wake the loop; process is NULL if fd is not a pidfd. */
int process_set_watch(struct process_set *set, int fd, struct user_process *process);
/* Marks processes as ended if their pidfd says so, and retries those that are due. */
void process_set_poll(struct process_set *set);

/* Returns the process that runs the image, or NULL. */
struct user_process *process_set_process(struct process_set *set, uint32_t image);
/* Callbacks of the tracker; the set is their argument. */
bool process_set_owner(void *set, uint32_t image, struct block_owner *ret);
bool process_set_resolve(void *set, uint32_t image, struct memleak_stack *stack);
/* True if all processes have ended and no filter can find new ones. */
bool process_set_ended(const struct process_set *set);

/* Opens and probes the process with this pid. Returns 0, or a negative errno after logging it. */
int process_set_give(struct process_set *set, pid_t pid);
/*
 * Adds all processes that match the filter and returns their number in ret. Returns 0 or a negative
 * errno.
 */
int process_set_find(struct process_set *set, size_t *ret);
/* With --follow: adds running descendants of the given processes. Returns 0 or a negative errno. */
int process_set_find_children(struct process_set *set, const pid_t *pids, size_t pid_cnt);
void process_set_describe(const struct process_set *set);

/*
 * Adds a process that has become a target. base is the image that it was forked from; 0 after an
 * exec.
 */
void process_set_new(struct process_set *set, const struct memleak_record *record, uint32_t image,
		     uint32_t base);
/*
 * Handles another process that runs in the memory of this one. Earlier calls of the other process
 * may have been missed.
 */
void process_set_lend(struct process_set *set, struct user_process *process, pid_t borrower);
/* Removes a process whose memory is gone and which is not traced any more. */
void process_set_leave(struct process_set *set, struct user_process *process);
/* Handles an exec in the process that ran the record's image. */
void process_set_exec(struct process_set *set, const struct memleak_record *record);
void process_set_end(struct process_set *set, struct user_process *process, uint32_t unloads);
/* Handles processes that have ended without an end record. */
void process_set_end_gone(struct process_set *set);

/* Arms the retry timer for a few milliseconds from now. */
void process_set_retry_soon(struct process_set *set);
/* Reads processes again that have loaded or unloaded code. */
void process_set_refresh_changed(struct process_set *set);
/*
 * Reads the mappings of all processes; once all records are applied, the second function drops
 * tracked mappings that are gone.
 */
void process_set_read_mappings(struct process_set *set);
void process_set_compare_mappings(struct process_set *set);
/* Reads the mappings of the given processes again, as far as the deadline allows. */
void process_set_refresh_given(struct process_set *set);
/* Finishes deferred stacks that have arrived, up to a maximum for each process. */
void process_set_finish_stacks(struct process_set *set, size_t most);
/* Reads all deferred stacks from the ring and finishes them. */
void process_set_settle_stacks(struct process_set *set);

/* Updates which images have descendants with inherited blocks. Returns 0 or -ENOMEM. */
int process_set_find_descendants(struct process_set *set);
/* Marks the processes that have ended; the snapshot that follows is the last to show them. */
void process_set_settle_ended(struct process_set *set);
/* Frees the processes marked by process_set_settle_ended(), unless all are marked. */
void process_set_forget_ended(struct process_set *set);
/* Deletes all data of images that have ended. */
void process_set_purge(struct process_set *set);

#endif
