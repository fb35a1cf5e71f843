/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One traced process: its identity, mappings and symbols. Does not know how probes are chosen (see
 * attach.h) or which other processes are traced.
 */
#ifndef LOADER_USER_PROCESS_H
#define LOADER_USER_PROCESS_H

#include "base/bits.h"
#include "loader/target/mapped_ranges.h"
#include "loader/target/mapping_counts.h"
#include "loader/user/context.h"
#include "report/snapshot.h"
#include "symbolizer/symbolizer.h"

struct deferred_stacks;

struct function_place {
	uint64_t addr;
	const char *name; /* name of the probed function (static string); NULL if none */
};

/* --fds: descriptors by their numbers. */
struct process_fds {
	struct bits older;   /* descriptors that were open when tracing of the image began */
	struct bits open;    /* descriptors that were open at read_ns */
	struct bits tracked; /* descriptors in `open` that have a block in the tables */
	uint64_t read_ns;    /* time when open descriptors were read; 0 if unknown */
	bool is_unread;      /* true if the process runs, but its descriptors could not be read */
	/* true if all count as closed: the process ended while others still run */
	bool are_closed;
	uint64_t closed_unseen; /* number of tracked descriptors not open at read_ns */
};

struct user_process {
	struct process info;
	uint32_t base; /* image it was forked from; 0 after an exec, or without a fork record */
	bool found;    /* true if the process was found by a filter; failures are then not errors */
	int pidfd;     /* -1 if there is none, so that only an end record reports the end */
	uint64_t gone_ns;     /* time when memleak noticed the end of the process; 0 if not yet */
	bool ended_maps_read; /* true if the mappings were read after the process had ended */
	bool is_no_target;    /* true if the process is no longer a target */
	uint32_t unloads;     /* unload count from the end record of the process */
	uint32_t death;       /* what killed the process, as described at MEMLEAK_REC_END */
	uint64_t since_ns; /* time when the process started or last ran exec; 0 if not recorded */
	bool ended;
	/* true if the process is exiting: it runs no code, but its memory exists */
	bool at_end;
	bool ended_before_report; /* true if the process had ended when the last report began */
	uint64_t retry_files_ns;  /* time when postponed files may be searched; 0 if none */
	unsigned int tries;       /* number of attach attempts since the process last loaded code */
	bool changed;       /* true if the mappings must be read again, as after loading code */
	bool awaits_tables; /* true if unwind tables of mapped files are being built */
	uint64_t r_debug;   /* address of r_debug; see struct module_list */
	struct file_id *permanent;
	size_t permanent_cnt;
	bool attached;            /* true once all libraries are loaded and no file is postponed */
	struct file_id *searched; /* files that were searched; empty until `attached` is set */
	size_t searched_cnt;
	struct probe_set probes; /* the process's own probes; unused if probes are shared */
	uint32_t stepped;        /* bit set of families with a single-stepped probe */
	bool throws;             /* true if a probed function may throw an exception */
	bool raises_known;       /* true if what raises exceptions was searched for in `searched` */
	char *allocator;         /* path of the first file with a probed heap function */
	struct ranges ranges;
	uint64_t too_young;    /* size of the largest heap block younger than --older, in bytes */
	struct proc_maps maps; /* mappings read at read_ns; empty once compared with `ranges` */
	struct mapping_counts mapping_counts;
	uint64_t compared_ns;
	uint64_t mappings_lost; /* times that mappings were lost: no memory, or unknown parent */
	uint64_t exec_gaps;     /* number of programs that ran before they were probed */
	bool after_exec;        /* true if the program started by exec is not fully probed yet */
	bool gap_counted;       /* true if exec_gaps includes the current program */
	uint64_t late;          /* number of programs that were searched late or in part */
	bool late_counted;
	bool logged_unread; /* logged that a file could not be read */
	bool logged_moved;  /* logged that allocator functions are in anonymous memory */
	bool logged_static; /* logged that this is a static program with an unknown allocator */
	struct symspace *space;
	struct process_fds fds;
	uint64_t read_ns;          /* time when the mappings were last read */
	bool logged_cut;           /* logged that there are too many mappings to read all */
	bool logged_locked;        /* logged that the mappings could not be read for some time */
	uint64_t maps_interval_ns; /* minimum interval between reads of the mappings */
	struct function_place *places; /* addresses of probed functions, for -t events */
	size_t place_cnt;
};

/*
 * Opens a process without probing it (see attach_process()). Returns 0 or a negative errno.
 * Failures are logged unless the process was found by a filter.
 */
int user_process__new(const struct user_context *ctx, pid_t pid, bool found,
		      struct user_process **ret);
void user_process__free(struct user_process *process);

/*
 * Opens a process that ended before it could be read, from the kernel's records about it. since_ns:
 * time of its fork or exec (CLOCK_MONOTONIC). parent: NULL after an exec, or if the parent is
 * unknown.
 */
int user_process__new_ended(const struct user_context *ctx, pid_t pid, uint64_t since_ns,
			    const struct user_process *parent, struct user_process **ret);
/* Opens a pidfd for a process from user_process__new_ended(), in case the process still runs. */
void user_process__watch(struct user_process *process);

/* Counts, at most once per program, that its first allocations were missed. */
void user_process__count_gap(struct user_process *process);
/* Counts, at most once per program, that a file was searched too late or not at all. */
void user_process__count_late(struct user_process *process);

/*
 * Returns the mappings of the process's image from the kernel's records; -ENOENT if there are none.
 */
int user_process__maps_from_records(const struct user_context *ctx,
				    const struct user_process *process, struct proc_maps *ret);

/* Logs, at most once per process, that its mappings cannot be read now. */
void user_process__log_locked(struct user_process *process);

/*
 * Reads the mappings again and builds missing unwind tables. If the deadline passes first, or if
 * the memory map stays locked, sets process->changed, so that the mappings are read again later.
 */
void user_process__refresh(const struct user_context *ctx, struct user_process *process);

/*
 * True if the mappings should not be read again yet, because reading them is slow or failed
 * recently. before_report: a report follows, so ignore a short minimum interval.
 */
bool user_process__maps_are_recent(const struct user_process *process, bool before_report);

/* Reads the mappings for user_process__compare_mappings(), unless they were read recently. */
void user_process__read_mappings(const struct user_context *ctx, struct user_process *process);
/*
 * Drops tracked mappings that were gone when the mappings were last read. Does nothing until all
 * records up to that read have been applied. records_until_ns: time until which all records have
 * been applied.
 */
void user_process__compare_mappings(struct user_process *process, uint64_t records_until_ns);

/* --fds: stores which descriptors the process has open before any of them is tracked. */
void user_process__begin_fds(const struct user_context *ctx, struct user_process *process);

/* Finishes at most `most` deferred stacks of the process. */
void user_process__finish_deferred(const struct user_context *ctx,
				   const struct user_process *process,
				   struct deferred_stacks *deferred, size_t most);

/*
 * Resets the process's data after an exec at since_ns. rebind: true if a thread other than the
 * leader called exec, so that the probes must be bound again. attach_process() must follow.
 */
void user_process__exec(const struct user_context *ctx, struct user_process *process,
			uint32_t image, uint64_t since_ns, bool rebind);

/* Returns the name of the probed function at an address of the process, or NULL. */
const char *user_process__function(const struct user_context *ctx, struct user_process *process,
				   uint64_t addr);

#endif
