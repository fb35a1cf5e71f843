/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One traced process: its identity, mappings and symbols. Does not know how probes are chosen (see
 * attach.h) or which other processes are traced.
 */
#ifndef LOADER_USER_PROCESS_H
#define LOADER_USER_PROCESS_H

#include "base/bits.h"
#include "loader/target/mapped_ranges.h"
#include "loader/user/context.h"
#include "report/snapshot.h"
#include "symbolizer/symbolizer.h"

struct deferred_stacks;

struct function_place {
	uint64_t addr;
	const char *name; /* static string; NULL if no function is probed there */
};

/* --fds: descriptors by their numbers. */
struct process_fds {
	struct bits older;      /* were open when tracing of the image began */
	struct bits open;       /* were open at read_ns */
	struct bits tracked;    /* of these, the tables have a block */
	uint64_t read_ns;       /* before they were read; 0: they are not known */
	bool is_unread;         /* the process lives, and they could not be read */
	bool are_closed;        /* the process has ended, and others have not */
	uint64_t closed_unseen; /* blocks of descriptors that were not open then */
};

struct user_process {
	struct process info;
	uint32_t base;     /* image that it was forked from; 0 after an exec or if given */
	bool found;        /* found by a filter, not given by -p: failures are not errors */
	int pidfd;         /* -1 if only a record reports its end */
	uint64_t gone_ns;  /* when it was found to have ended, before its end record; else 0 */
	bool told;         /* the mappings of the ended process have been read */
	bool left;         /* not a target any more */
	uint32_t unloads;  /* how often the target had unloaded code, as its end record says */
	uint64_t since_ns; /* begin of the process or last exec; 0 if before it was found */
	bool ended;
	bool at_end;        /* about to exit: runs no more, but its memory is still there */
	bool settled;       /* had ended when the last report began */
	uint64_t held_ns;   /* earliest next search for postponed files; 0 if none */
	unsigned int tries; /* attach attempts since it last loaded code */
	bool changed;       /* has loaded or unloaded code since its mappings were read */
	bool waits;         /* waits for unwind tables of its files */
	uint64_t r_debug;   /* address; see struct module_list */
	struct file_id *permanent;
	size_t permanent_cnt;
	bool attached;            /* all libraries were loaded when the probes were placed */
	struct file_id *searched; /* files searched so far, once attached */
	size_t searched_cnt;
	struct probe_set probes; /* unused if probes are shared */
	uint32_t stepped;        /* families with a probe that the kernel single-steps, by bit */
	char *allocator;         /* path of the first file with a probed heap function */
	struct ranges ranges;
	struct proc_maps maps; /* read at read_ns; empty once compared with the ranges */
	uint64_t compared_ns;
	uint64_t mappings_lost; /* mappings not recorded for lack of memory */
	uint64_t exec_gaps;     /* programs that ran before their allocator was probed */
	bool after_exec;        /* after an exec: the probes of the new program are not complete */
	bool gap_counted;       /* exec_gaps includes the current program */
	uint64_t late;          /* programs that were searched late or in part */
	bool late_counted;
	bool told_unread; /* logged that a file could not be read */
	bool told_moved;  /* logged that allocator functions are in anonymous memory */
	struct symspace *space;
	struct process_fds fds;
	uint64_t read_ns;              /* when the mappings were last read */
	bool told_cut;                 /* logged that there are more mappings than are read */
	uint64_t rest_ns;              /* minimum time until the mappings should be read again */
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
 * Opens a process that ended before it could be read, from what the kernel reported about it.
 * since_ns is the time of its fork or exec, by CLOCK_MONOTONIC. parent is NULL if it is unknown, or
 * after an exec.
 */
int user_process__new_ended(const struct user_context *ctx, pid_t pid, uint64_t since_ns,
			    const struct user_process *parent, struct user_process **ret);
/* Opens a pidfd after user_process__new_ended(), as the process may still run. */
void user_process__watch(struct user_process *process);

/* Counts, once per program, that its first allocations were missed. */
void user_process__count_gap(struct user_process *process);
/* Counts, once per program, that a file was searched too late or not at all. */
void user_process__count_late(struct user_process *process);

/*
 * Returns the mappings of the current image as reported by kernel events; -ENOENT if there are
 * none.
 */
int user_process__told_maps(const struct user_context *ctx, const struct user_process *process,
			    struct proc_maps *ret);

/* Reads the current mappings, or returns the last known ones. Returns 0 or a negative errno. */
int user_process__maps(const struct user_context *ctx, const struct user_process *process,
		       struct proc_maps *ret);

/*
 * Reads the mappings and unwind tables again. If the deadline cuts this short, the process is
 * marked as changed and is read again later.
 */
void user_process__refresh(const struct user_context *ctx, struct user_process *process);

/*
 * True if the process has too many mappings to read them again yet. Before a report (settles), only
 * long waits count.
 */
bool user_process__rests(const struct user_process *process, bool settles);

/* Reads the mappings for user_process__compare_mappings(), unless they were read recently. */
void user_process__read_mappings(const struct user_context *ctx, struct user_process *process);
/*
 * Drops tracked mappings that are not in the mappings read, if all records up to that read have
 * been applied (heard_ns is the time until which they have been).
 */
void user_process__compare_mappings(struct user_process *process, uint64_t heard_ns);

/* --fds: notes which descriptors its image has before any is tracked. */
void user_process__begin_fds(const struct user_context *ctx, struct user_process *process);

/* Finishes at most this number of deferred stacks of the process. */
void user_process__finish_deferred(const struct user_context *ctx,
				   const struct user_process *process,
				   struct deferred_stacks *deferred, size_t most);

/*
 * Resets names and mappings after an exec at since_ns, and binds the probes again (rebind) if
 * another thread than the leader called it. attach_process() must follow.
 */
void user_process__exec(const struct user_context *ctx, struct user_process *process,
			uint32_t image, uint64_t since_ns, bool rebind);

/* Returns the name of the probed function at an address of the process, or NULL. */
const char *user_process__function(const struct user_context *ctx, struct user_process *process,
				   uint64_t addr);

#endif
