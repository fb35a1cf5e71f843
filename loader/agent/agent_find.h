/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the account of a running program, and the agent's library. */
#ifndef LOADER_AGENT_AGENT_FIND_H
#define LOADER_AGENT_AGENT_FIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct file_id;
struct options;

/*
 * The file of the account that the process has mapped: a forked child may have its parent's open as
 * well. 0; -ENOENT: the process runs, and has none; -ESRCH; or another negative errno.
 */
int agent_find_mapped(pid_t pid, struct file_id *ret);

/*
 * Opens that: by the descriptor that the agent has kept, or, with rights, by the mapping. A
 * descriptor, or a negative errno as above.
 */
int agent_find_account(pid_t pid);

/* The library's path, to be freed: beside memleak, or where it is installed. NULL: it is not there.
 */
char *agent_find_library(void);

/*
 * Has whatever is executed from now on load the agent, keep what the options want, and hand its
 * account to that socket; with --follow so do its children. 0 or -ENOMEM.
 */
int agent_set_environment(const char *library, const char *socket, const struct options *opts);
/* As it was before. */
void agent_clear_environment(void);

#endif
