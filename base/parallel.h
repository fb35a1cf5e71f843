/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs work in several threads at once. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stddef.h>

/* Returns the number of workers for computing: the processors this process may use, at most 16. */
size_t parallel_worker_cnt(void);

/*
 * Calls work() for each number below worker_cnt (at most 64), in one thread per number, the first
 * of which is the calling thread, and waits for all. If a thread cannot be started, the calling
 * thread does its work. More workers than processors are useful if they wait.
 */
void parallel_run(size_t worker_cnt, void (*work)(void *arg, size_t worker), void *arg);

#endif
