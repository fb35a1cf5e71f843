/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether a process could notice that it is copied, and whether a copy would use too much
 * memory.
 */
#ifndef PROOF_COPY_RISKS_H
#define PROOF_COPY_RISKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "proof/live_threads.h"

/*
 * True if a process cannot notice a copy: no thread waits for children of all kinds (it would see
 * the maker of the copy, see copy.h), and another process adopts and reaps its orphans (otherwise
 * the copy would remain as a zombie).
 */
bool copy_is_unseen(pid_t pid, const struct live_threads *threads);

/*
 * True if the process's memory cgroup has enough free memory for a copy: each page that the process
 * writes to while the copy exists is duplicated.
 */
bool copy_has_room(pid_t pid);

#endif
