/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks whether copying a process could be noticed, or would use too much memory. */
#ifndef PROOF_COPY_RISKS_H
#define PROOF_COPY_RISKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "proof/live_threads.h"

/*
 * True if the process cannot notice a copy: no thread waits for children of all kinds (it would see
 * the maker of the copy), and the process's reaper reaps orphans (otherwise the copy would remain
 * as a zombie).
 */
bool copy_is_unseen(pid_t pid, const struct live_threads *threads);

/*
 * True if the process's memory cgroup has enough free memory: each page that the process writes
 * while the copy exists is duplicated.
 */
bool copy_has_room(pid_t pid);

#endif
