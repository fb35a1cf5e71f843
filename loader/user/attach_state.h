/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of one search through the files of a process: placed probes, time spent, failures, and the
 * messages about them. Does not know which files and functions are searched.
 */
#ifndef LOADER_USER_ATTACH_STATE_H
#define LOADER_USER_ATTACH_STATE_H

#include "loader/probes/probe_list.h"
#include "loader/target/modules.h"
#include "loader/user/process.h"

struct search_names {
	char **names; /* names of functions in this process; NULL for a function that is not
			 searched for */
	/*
	 * For each function, the file of its first exported definition; NULL if none was found yet.
	 */
	const char **first;
};

struct attach_state {
	const struct user_context *ctx;
	struct user_process *process;
	struct probe_set *probes;
	pid_t bound; /* process in which the probes fire; 0 if they fire in all processes */
	struct search_names names;
	size_t heap_found;
	size_t moved_cnt; /* number of heap functions in moved code, where no probe fires */
	size_t placed;    /* number of probes that this search added */
	bool deferred;    /* true if a file got its first probes after the process had started */
	bool hooked;      /* true if this search probed the hook of the dynamic loader */
	/*
	 * true if the file being searched was loaded at run time (dlopen) or is probed for all
	 * processes: all its definitions are probed
	 */
	bool later;
	int err;              /* the first error of this search */
	uid_t uid;            /* user that owns the process */
	uint64_t patience_ns; /* maximum time to search all files of the process */
	uint64_t taken_ns;    /* time spent in this search so far */
	uint64_t file_ns;     /* maximum time to search one file */
	bool is_budget_spent; /* true if the user's time budget is used up */
	/* true if reading memory of this user's processes is paused after a hang */
	bool hangs;
	/* true if searches are paused because files (of any user) were slow */
	bool is_cooling_down;
	/*
	 * true if files were postponed because of `is_budget_spent`, `hangs` or `is_cooling_down`,
	 * or because the memory map stays locked
	 */
	bool postponed;
	bool was_postponed; /* true if the previous search postponed a file */
	bool too_late;      /* true if the search of a file ran out of time */
	bool missed;        /* true if a file was not searched, or its code cannot be probed */
};

/*
 * Begins a search. Its time limits are shorter once tracing has begun. Returns 0 or -ENOMEM; call
 * attach_end() either way.
 */
int attach_begin(struct attach_state *state, const struct user_context *ctx,
		 struct user_process *process);
void attach_end(struct attach_state *state);

/*
 * Lists the files that the process maps. Marks the search as postponed if the memory map stays
 * locked, or if the user's budget or a pause forbids reading memory or files of the process now.
 * Returns 0 or an error of module_list_init().
 */
int attach_modules(struct attach_state *state, struct module_list *ret);

/* Places probes, all in the file `module`, and records the results in the state. */
void attach_probes(struct attach_state *state, const struct module *module,
		   struct probe_list *list);

/* Logs where a probe was placed, or why it was not. */
void log_attached(const struct attach_state *state, const struct module *module,
		  const struct probe *probe, const struct probe_place *place);

/*
 * Logs that a function is not probed: it calls a probed function, or it may throw. In the second
 * case, memory that the function allocates may not be tracked.
 */
void log_skipped(const struct attach_state *state, const struct module *module,
		 const struct skipped_function *skipped);

/*
 * Logs that functions of a file are not probed because another file, which is earlier in lookup
 * order, defines them, too. first: path of that other file.
 */
void log_not_first(const struct attach_state *state, const struct module *module,
		   const char *first);

#endif
