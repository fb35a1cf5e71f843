/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known while the probes of a process are placed, and what is said of it. */
#ifndef ATTACH_STATE_H
#define ATTACH_STATE_H

#include "loader/elf_functions.h"
#include "loader/modules.h"
#include "loader/probe_list.h"
#include "loader/user_process.h"

struct search_names {
	char **names;         /* what each function is called in this process; NULL: none */
	const char **settled; /* the file whose exported definition was found; NULL: none yet */
};

/* Which functions of a module count: with -O the heap is elsewhere than the mappings. */
enum module_part { PART_ALL, PART_HEAP, PART_MAPS };

struct attach_state {
	const struct user_context *ctx;
	struct user_process *process;
	struct probe_set *probes;
	pid_t bound; /* the process that they are bound to; 0: all that map the file */
	struct search_names names;
	size_t heap_found;
	size_t placed; /* probes that were not there before */
	bool late;     /* or that were not when the process began */
	bool throws;   /* exceptions may leave a probed function */
	bool later;    /* files are searched that were loaded by name: each serves by itself */
	int err;       /* the first failure */
};

/* To be ended even if it fails, with -ENOMEM. */
int attach_begin(struct attach_state *state, const struct user_context *ctx,
		 struct user_process *process);
void attach_end(struct attach_state *state);

/* Looks into a file for functions that all processes share, once. */
void attach_once(struct attach_state *state, const struct module *module, enum elf_scope scope);

/* Places the probes, and notes what came of it. */
void attach_probes(struct attach_state *state, const struct module *module,
		   struct probe_list *list);

/*
 * Probes the functions of a module that options name: every definition, also static ones, for they
 * are what the user means. loader/attach_pools.c.
 */
void attach_pools(struct attach_state *state, const struct module *module);
void note_missing_pools(const struct attach_state *state);

/* In all modules of the list, if one of the probed functions may throw. */
void attach_raises(struct attach_state *state, const struct module_list *list);

void say_attached(const struct attach_state *state, const struct module *module,
		  const struct probe *probe, const struct probe_place *place);

/* A throwing operator that is not probed gives memory unseen. */
void say_left(const struct attach_state *state, const struct module *module,
	      const struct left_function *left);

/* Another file's function of this name is the one that is called. */
void say_settled(const struct attach_state *state, const struct module *module, size_t function);

#endif
