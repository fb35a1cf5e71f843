/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of memleak's that starts helpers, and ends them: it alone keeps the capabilities that
 * takes. It has what memleak had in memory before it read anything of a target, and so have
 * helpers. Started when the first of them is; it ends with memleak. Not for several threads at a
 * time.
 */
#ifndef HELPER_STARTER_H
#define HELPER_STARTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "helper/kind.h"

/* What a helper ends with that could not give up its rights. */
#define STARTER_NOT_CONFINED 3

/* Of this process's starter, which is started if it was not. A negative errno: there is none. */
pid_t starter_pid(void);

/* True if the starter has ended: no helper can be started any more. */
bool starter_is_gone(void);

/* Starts a helper at the other end of sock, which is closed here. Its pid or a negative errno. */
pid_t starter_fork(const struct helper_kind *kind, int sock);

/*
 * Waits for a helper that has ended, or, if it is to be killed, that is killed now. Until then its
 * pid is nobody else's. Its status as wait(2) has it; -1: not known.
 */
int starter_wait(pid_t pid, bool to_kill);

/* The next helper starts another one, which has what memory and environment have then. */
void starter_end(void);

#endif
