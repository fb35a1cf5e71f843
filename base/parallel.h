/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work that is done by several threads at once. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stddef.h>

/* How many workers compute: one for each processor that this process may use, 16 at most. */
size_t parallel_worker_cnt(void);

/*
 * Calls work for each number below worker_cnt, which counts up to 64 (workers that wait need no
 * processor), each in a thread of its own but for the first, and returns when all have returned. If
 * a thread cannot be started, its work is done by this one.
 */
void parallel_run(size_t worker_cnt, void (*work)(void *arg, size_t worker), void *arg);

#endif
