/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the account (the agent's shared memory) of a running program, and the agent library; sets
 * the environment that makes programs load it.
 */
#ifndef LOADER_AGENT_AGENT_FIND_H
#define LOADER_AGENT_AGENT_FIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct file_id;
struct options;

/*
 * Finds the process's account among its mappings. Its descriptors do not identify the account, as a
 * forked child may also have its parent's account open. Returns 0, -ENOENT if the process has no
 * account, -ESRCH if the process has ended, or another negative errno.
 */
int agent_find_mapped(pid_t pid, struct file_id *ret);

/*
 * Opens the process's account through the descriptor that the agent keeps open, or else through the
 * mapping, which needs more rights. Returns a descriptor, or a negative errno as
 * agent_find_mapped() does.
 */
int agent_find_account(pid_t pid);

/*
 * Returns the path at which programs of a user find the agent library: in memleak's folder, in
 * ../lib/memleak or, for memleak's own user, in a static memleak itself. Logs an error and
 * returns NULL if there is none. The caller frees the path.
 */
char *agent_find_library(uid_t user);

/*
 * Sets environment variables for the programs that are executed from now on: these programs load
 * the agent, record what the options need, and send their accounts to this socket. With --follow,
 * their children do so, too. Returns 0 or -ENOMEM.
 */
int agent_set_environment(const char *library, const char *socket, const struct options *opts);
/* Undoes agent_set_environment(). */
void agent_clear_environment(void);

#endif
