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
	char **names; /* name of each function in this process; NULL if it is not searched for */
	const char **first; /* file of its first exported definition; NULL if none was found yet */
};

struct attach_state {
	const struct user_context *ctx;
	struct user_process *process;
	struct probe_set *probes;
	pid_t bound; /* only process in which the probes fire; 0 if all */
	struct search_names names;
	size_t heap_found;
	size_t moved_cnt;     /* heap functions whose probes never fire: see struct moved_code */
	size_t placed;        /* probes that this search added */
	bool deferred;        /* a file was first probed after the process had begun */
	bool throws;          /* exceptions may leave a probed function */
	bool later;           /* the files being searched were loaded by name (dlopen) */
	int err;              /* the first failure */
	uid_t uid;            /* user that the process belongs to */
	uint64_t patience_ns; /* maximum time to search all files of the process */
	uint64_t taken_ns;    /* time spent on searching so far */
	uint64_t file_ns;     /* maximum time to search one file */
	bool spent;           /* the user's time budget is used up */
	bool hangs;           /* reading memory of the user's processes hangs */
	bool rests;           /* cool-down: files of this user, or of all, were slow just now */
	bool held;            /* a file was postponed because of spent or rests */
	bool was_held;        /* the last search postponed a file */
	bool too_late;        /* a file was not searched to its end */
	bool missed;          /* a file was not searched, or its code cannot be probed */
};

/*
 * Returns 0 or -ENOMEM; call attach_end() either way. Timeouts are shorter once tracing has begun.
 */
int attach_begin(struct attach_state *state, const struct user_context *ctx,
		 struct user_process *process);
void attach_end(struct attach_state *state);

/*
 * Lists the files that the process maps. Marks the search as postponed if there was no time to ask
 * the files for details.
 */
int attach_modules(struct attach_state *state, struct module_list *ret);

/* Places the probes and records the results in the state. */
void attach_probes(struct attach_state *state, const struct module *module,
		   struct probe_list *list);

/* Logs where a probe was placed, or why it was not. */
void say_attached(const struct attach_state *state, const struct module *module,
		  const struct probe *probe, const struct probe_place *place);

/*
 * Logs that a function is not probed, and why. Memory from a throwing operator without a probe is
 * not seen.
 */
void say_left(const struct attach_state *state, const struct module *module,
	      const struct left_function *left);

/* Logs that functions of a file are not probed because another file defines them first. */
void say_not_first(const struct attach_state *state, const struct module *module,
		   const char *first);

#endif
