/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The starter: a child process of memleak that starts and ends helpers. Only the starter keeps all
 * capabilities needed for this. Helpers are forked from it, so they inherit its memory, copied
 * before memleak read any data of a target. The starter is started with the first helper, and ends
 * with memleak. These functions are not thread-safe.
 */
#ifndef HELPER_STARTER_H
#define HELPER_STARTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "helper/kind.h"

/* Exit status of a helper that failed to drop its rights. */
#define STARTER_NOT_CONFINED 3

/* Returns the starter's pid or a negative errno. Starts the starter if needed. */
pid_t starter_pid(void);

/* True if the starter ended unexpectedly: no helper can be started any more. */
bool starter_is_gone(void);

/*
 * Starts a helper and passes it `sock`, the helper's end of a socket pair. Always closes `sock` in
 * this process. Returns the helper's pid or a negative errno.
 */
pid_t starter_fork(const struct helper_kind *kind, int sock);

/*
 * Waits for a helper to end, and reaps it. If to_kill, kills it first. The helper's pid is not
 * reused before this call. Returns the status as in wait(2); -1 if unknown.
 */
int starter_wait(pid_t pid, bool to_kill);

/*
 * Ends the starter. The next helper is started by a new starter, with the memory and environment
 * that memleak has then.
 */
void starter_end(void);

#endif
