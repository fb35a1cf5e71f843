/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One traced process: who it is, which mappings it holds, and the names of its code. How its
 * probes are chosen and placed stands in attach.h; which other processes there are it does not
 * know.
 */
#ifndef LOADER_USER_PROCESS_H
#define LOADER_USER_PROCESS_H

#include "loader/target/mapped_ranges.h"
#include "loader/user/context.h"
#include "report/snapshot.h"
#include "symbolizer/symbolizer.h"

struct deferred_stacks;

struct function_place {
	uint64_t addr;
	const char *name; /* static; NULL: no probed function */
};

struct user_process {
	struct process info;
	uint32_t base;     /* the image whose mappings it began with; 0: its own */
	bool found;        /* not given by its number: what is wrong with it need not be said */
	int pidfd;         /* -1: its end is told by a record alone */
	uint64_t gone_ns;  /* when it was met as ended, before a record said so; 0: it was not */
	bool told;         /* that was read of one that was found and has ended */
	bool left;         /* it is no target any more */
	uint32_t unloads;  /* of the target that it was */
	uint64_t since_ns; /* when it began, or executed a program; 0: before it was found */
	bool ended;
	bool at_end;        /* it runs no more, but its memory is there */
	bool settled;       /* it had ended when the last report was begun */
	uint64_t held_ns;   /* a file was not searched yet: not to be tried before; 0: all were */
	unsigned int tries; /* to attach, since it has loaded code */
	bool changed;       /* it has loaded or unloaded code since it was read */
	bool waits;         /* for unwind tables of its files */
	uint64_t r_debug;   /* struct module_list */
	struct file_id *permanent;
	size_t permanent_cnt;
	bool attached;            /* all libraries were there when the probes were placed */
	struct file_id *searched; /* files that have been looked into, once attached */
	size_t searched_cnt;
	struct probe_set probes; /* unless they are shared */
	char *allocator;         /* path of the first file that has a probed heap function */
	struct ranges ranges;
	struct proc_maps maps; /* as of read_ns, to compare the ranges with; empty: compared */
	uint64_t compared_ns;
	uint64_t mappings_lost; /* for want of memory here */
	uint64_t exec_gaps;     /* programs that ran before their allocator was probed */
	bool after_exec;        /* a new program whose probes are not complete yet */
	bool gap_counted;       /* of this program */
	uint64_t late;          /* programs that were searched late or not in full */
	bool late_counted;
	bool told_unread; /* that a file may not be read */
	bool told_moved;  /* that allocator functions lie in anonymous memory */
	struct symspace *space;
	uint64_t read_ns;              /* when it was read last what the process has mapped */
	bool told_cut;                 /* that it has mapped more than is read */
	uint64_t rest_ns;              /* so long it should not be read again */
	struct function_place *places; /* where -t events said functions are */
	size_t place_cnt;
};

/*
 * Opens the process. Returns 0 or a negative errno; has said what is wrong with the pid, unless the
 * process was found. The probes come with attach_process().
 */
int user_process__new(const struct user_context *ctx, pid_t pid, bool found,
		      struct user_process **ret);
void user_process__free(struct user_process *process);

/*
 * Opens a process that has ended before anybody could look at it: it is what the kernel told of it.
 * It ran the image at that time of CLOCK_MONOTONIC, begun as a copy of its parent (NULL: not known,
 * or it executed a program).
 */
int user_process__new_ended(const struct user_context *ctx, pid_t pid, uint64_t since_ns,
			    const struct user_process *parent, struct user_process **ret);
/* After that: it may not have ended. */
void user_process__watch(struct user_process *process);

/* What its program allocated first was not seen. */
void user_process__count_gap(struct user_process *process);
/* Nor was what it allocated by a file that was searched too late, or is not. */
void user_process__count_late(struct user_process *process);

/* What the kernel told that the process has mapped, of its present image. -ENOENT: nothing. */
int user_process__told_maps(const struct user_context *ctx, const struct user_process *process,
			    struct proc_maps *ret);

/* What it has mapped, or had as far as is known. 0 or a negative errno. */
int user_process__maps(const struct user_context *ctx, const struct user_process *process,
		       struct proc_maps *ret);

/*
 * Its libraries may have changed: reads where its code is again, and how to unwind it. What is not
 * read by the deadline is marked as changed, to be read once more.
 */
void user_process__refresh(const struct user_context *ctx, struct user_process *process);

/*
 * It has so many mappings that they are not to be read again yet; settles: for a report, which
 * wants them if that does not take long.
 */
bool user_process__rests(const struct user_process *process, bool settles);

/*
 * Reads what it has mapped, to be compared with the mappings that are tracked: if that was not read
 * just now, and not of each process too often.
 */
void user_process__read_mappings(const struct user_context *ctx, struct user_process *process);
/*
 * Drops tracked mappings that are no more, by what was read, if all records up to then have been
 * applied: those up to heard_ns were.
 */
void user_process__compare_mappings(struct user_process *process, uint64_t heard_ns);

/* Walks its deferred stacks, so many at most. */
void user_process__finish_deferred(const struct user_context *ctx,
				   const struct user_process *process,
				   struct deferred_stacks *deferred, size_t most);

/*
 * The process runs another program: its names and mappings start anew, and so do its probes if
 * another thread than the first has executed it, at that time. attach_process() must follow.
 */
void user_process__exec(const struct user_context *ctx, struct user_process *process,
			uint32_t image, uint64_t since_ns, bool rebind);

/* The probed function at an address of the process; NULL: none. */
const char *user_process__function(const struct user_context *ctx, struct user_process *process,
				   uint64_t addr);

#endif
