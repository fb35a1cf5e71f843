/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traced processes: processes given by -p, processes found by a filter, and their children.
 * Does not know the ring buffers or the reports.
 */
#ifndef LOADER_USER_PROCESS_SET_H
#define LOADER_USER_PROCESS_SET_H

#include "bpf/memleak.h"
#include "loader/target/image_set.h"
#include "loader/target/machine.h"
#include "loader/user/process_table.h"
#include "loader/user/programs.h"

struct process_set {
	struct user_programs *programs;
	struct target_filter filter;
	struct process_table table;
	int epoll_fd;      /* data.ptr is the process of a pidfd, else NULL */
	int retry_fd;      /* timer for the next attempt to read or probe processes */
	size_t refresh_at; /* index of the process that is read first in the next iteration */
	size_t retry_at;   /* index of the process that is retried first in the next iteration */
	size_t given_at;   /* index of the process that is read first for the next report */
	struct machine machine;  /* as of the latest report */
	struct image_set mapped; /* ended images whose code mappings (unwind spaces) still exist */
	struct image_set gone;   /* ended images whose blocks and sites still exist */
	size_t purge_threshold;  /* number of ended images that starts a purge */
	uint64_t gone_blocks;    /* maximum number of blocks of images ended since the last purge */
	uint32_t given_images;   /* number of images that the loader has numbered */
	uint64_t mappings_lost;  /* sum of mappings_lost and ranges.lost of removed processes */
	uint64_t exec_gaps;      /* sum of exec_gaps of removed processes */
	uint64_t processes_lost; /* number of processes that were searched too late or not at all */
	size_t skipped_32bit_cnt; /* number of 32-bit programs that were skipped when tracing began
				   */
	size_t unopened_cnt; /* number of processes that could not be opened when tracing began */
	pid_t unopened_pid;  /* pid of the last process that could not be opened */
	int unopened_err;    /* error of opening unopened_pid, a negative errno */
	bool logged_static;  /* process_set_describe_later() has logged processes */
};

/*
 * Initialises an empty set. *programs must outlive the set. Returns 0 or a negative errno; call
 * process_set_deinit() either way.
 */
int process_set_init(struct process_set *set, struct user_programs *programs,
		     const struct options *opts);
void process_set_deinit(struct process_set *set);
/*
 * Adds fd to the descriptors that wake the main loop. Returns 0 or a negative errno. process: the
 * process of a pidfd; NULL if fd is not a pidfd.
 */
int process_set_watch(struct process_set *set, int fd, struct user_process *process);
/*
 * Checks the pidfds and notes which processes have ended. If the retry timer has fired, tries again
 * to probe processes.
 */
void process_set_poll(struct process_set *set);

/* Returns the process that runs the image, or NULL. */
struct user_process *process_set_process(struct process_set *set, uint32_t image);
/* Callbacks of the tracker; their first argument is the process_set. */
bool process_set_owner(void *set, uint32_t image, struct block_owner *ret);
bool process_set_resolve(void *set, uint32_t image, struct memleak_stack *stack);
int process_set_merge(void *set, uint32_t image, const struct memleak_stack *stack,
		      const struct script_frames *scripts, uint64_t **ret, size_t *ret_cnt);
/*
 * Reads the names of the script frames of the stack `id`, while the process still has them in
 * memory.
 */
void process_set_read_scripts(struct process_set *set, const struct user_process *process,
			      uint64_t stack);
/* True if all processes have ended and no filter can find new ones. */
bool process_set_ended(const struct process_set *set);

/*
 * Opens and probes the processes with these pids. Stops at a termination signal, even if some of
 * them are not opened yet. Returns 0, or a negative errno after logging it.
 */
int process_set_add_pids(struct process_set *set, const pid_t *pids, size_t cnt);
/*
 * Adds all running processes that match the filter. Sets *ret to their number. Returns 0 or a
 * negative errno.
 */
int process_set_find(struct process_set *set, size_t *ret);
/*
 * With --follow: adds the running descendants of the processes in pids. Returns 0 or a negative
 * errno.
 */
int process_set_find_children(struct process_set *set, const pid_t *pids, size_t pid_cnt);
void process_set_describe(const struct process_set *set);
/* Logs how many of the found processes are not traced, or only partly traced. */
void process_set_describe_skipped(const struct process_set *set);
/*
 * Logs which processes have begun since tracing began and are not traced, because they are static
 * programs with unknown allocators. Logs only with -v if it has logged such processes before.
 */
void process_set_describe_later(struct process_set *set);

/* Adds a process that has become a target. base: image that it was forked from; 0 after an exec. */
void process_set_new(struct process_set *set, const struct memleak_record *record, uint32_t image,
		     uint32_t base);
/*
 * Also traces `sharer`, a process that runs in the memory of `process`. Allocator calls that
 * `sharer` has already made may have been missed.
 */
void process_set_add_sharer(struct process_set *set, struct user_process *process, pid_t sharer);
/* True if a process is traced because it runs in the memory of a traced process. */
bool process_set_has_sharer(const struct process_set *set, pid_t pid);
/* Removes a process that is no longer traced and whose memory is gone. */
void process_set_remove(struct process_set *set, struct user_process *process);
/* Handles a record of an exec. The image in the record is the image before the exec. */
void process_set_exec(struct process_set *set, const struct memleak_record *record);
void process_set_end(struct process_set *set, struct user_process *process, uint32_t unloads);
/*
 * Marks processes as ended after their pidfds have reported the end: processes given by -p, and
 * other processes whose end records did not arrive.
 */
void process_set_end_gone(struct process_set *set);

/* Sets the retry timer to fire in a few milliseconds. */
void process_set_retry_soon(struct process_set *set);
/* Reads the mappings of processes that have loaded or unloaded code. */
void process_set_refresh_changed(struct process_set *set);
/*
 * process_set_read_mappings() reads the mappings of all processes. When all records have been
 * applied, process_set_compare_mappings() drops tracked mappings that are gone.
 */
void process_set_read_mappings(struct process_set *set);
void process_set_compare_mappings(struct process_set *set);
/* Reads the mappings of the processes given by -p, until the deadline. */
void process_set_refresh_given(struct process_set *set);
/* Completes deferred stacks whose copies have arrived, at most `most` for each process. */
void process_set_finish_stacks(struct process_set *set, size_t most);
/*
 * Reads all deferred stacks from the ring and finishes them. Then reads the mappings of the
 * processes given by -p.
 */
void process_set_finish_all_stacks(struct process_set *set);

/* Finds the images whose blocks were inherited by descendants. Returns 0 or -ENOMEM. */
int process_set_find_descendants(struct process_set *set);
/*
 * Marks the processes that have ended. The snapshot that follows is the last one to show
 * them.
 */
void process_set_mark_ended(struct process_set *set);
/*
 * Frees the processes marked by process_set_mark_ended(). Does nothing if all processes are marked
 * and no filter can find new ones, since no further report follows then.
 */
void process_set_forget_ended(struct process_set *set);
/* Deletes all data of images that have ended, except blocks that descendants may still inherit. */
void process_set_purge(struct process_set *set);

#endif
