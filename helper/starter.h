/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The starter: a child of memleak that starts and ends helpers, and alone keeps the capabilities
 * needed for that. Its memory, which helpers inherit, is that of memleak before anything of a
 * target was read. Started with the first helper; ends with memleak. Not thread-safe.
 */
#ifndef HELPER_STARTER_H
#define HELPER_STARTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "helper/kind.h"

/* Exit status of a helper that could not drop its rights. */
#define STARTER_NOT_CONFINED 3

/* Returns the starter's pid, starting it if needed, or a negative errno. */
pid_t starter_pid(void);

/* True if the starter has ended, so that no helper can be started any more. */
bool starter_is_gone(void);

/*
 * Starts a helper at the other end of sock, which is closed here. Returns its pid or a negative
 * errno.
 */
pid_t starter_fork(const struct helper_kind *kind, int sock);

/*
 * Waits for a helper that has ended, or kills it first. Until then its pid is not reused. Returns
 * the status as in wait(2); -1 if unknown.
 */
int starter_wait(pid_t pid, bool to_kill);

/*
 * Ends the starter. The next helper starts a new one with the memory and environment of that time.
 */
void starter_end(void);

#endif
