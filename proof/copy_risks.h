/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a copy of a process could be noticed by somebody, or be too much for it. */
#ifndef PROOF_COPY_RISKS_H
#define PROOF_COPY_RISKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "proof/live_threads.h"

/*
 * Whether no thread waits for children of any sort, as it would get what makes the copy, and
 * whoever takes orphans of the process takes notice of their end. Else a child without a life would
 * stay.
 */
bool copy_is_unseen(pid_t pid, const struct live_threads *threads);

/*
 * Whether the memory cgroup of a process has room for what it writes while there is a copy: of that
 * it then has two.
 */
bool copy_has_room(pid_t pid);

#endif
