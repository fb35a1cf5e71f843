/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known while the files of a process are searched for functions to be probed, and what is
 * said of it. Which files and functions those are it does not know.
 */
#ifndef LOADER_USER_ATTACH_STATE_H
#define LOADER_USER_ATTACH_STATE_H

#include "loader/probes/probe_list.h"
#include "loader/target/modules.h"
#include "loader/user/process.h"

struct search_names {
	char **names;       /* what each function is called in this process; NULL: none */
	const char **first; /* the file of its first exported definition; NULL: none yet */
};

struct attach_state {
	const struct user_context *ctx;
	struct user_process *process;
	struct probe_set *probes;
	pid_t bound; /* the process that they are bound to; 0: all that map the file */
	struct search_names names;
	size_t heap_found;
	size_t moved_cnt;     /* heap functions whose probes never fire: see struct moved_code */
	size_t placed;        /* probes that were not there before */
	bool deferred;        /* or that were not when the process began */
	bool throws;          /* exceptions may leave a probed function */
	bool later;           /* files are searched that were loaded by name */
	int err;              /* the first failure */
	uid_t uid;            /* of the process */
	uint64_t patience_ns; /* how long is still waited for what is in its files */
	uint64_t taken_ns;    /* that has taken so far */
	uint64_t file_ns;     /* so long one file is waited for */
	bool spent;           /* the user's processes have taken too long already */
	bool hangs;           /* memory of the user is not read */
	bool rests;           /* files of the user, or of all, took long just now */
	bool held;            /* for either reason a file is searched later */
	bool was_held;        /* so it was the last time */
	bool too_late;        /* a file was not searched to its end: somebody else may */
	bool missed;          /* a file is not searched */
};

/* To be ended even if it fails, with -ENOMEM. Files are not waited for long once tracing goes on.
 */
int attach_begin(struct attach_state *state, const struct user_context *ctx,
		 struct user_process *process);
void attach_end(struct attach_state *state);

/* What the process has mapped. If there is no time to ask its files, they are held. */
int attach_modules(struct attach_state *state, struct module_list *ret);

/* Places the probes, and notes what came of it. */
void attach_probes(struct attach_state *state, const struct module *module,
		   struct probe_list *list);

/* Says where the probe of a function is, or why there is none. */
void say_attached(const struct attach_state *state, const struct module *module,
		  const struct probe *probe, const struct probe_place *place);

/* A throwing operator that is not probed gives memory unseen. */
void say_left(const struct attach_state *state, const struct module *module,
	      const struct left_function *left);

/* Functions of the file are not probed, as those of another file come first. */
void say_not_first(const struct attach_state *state, const struct module *module,
		   const char *first);

#endif
