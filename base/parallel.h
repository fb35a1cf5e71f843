/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs work in several parallel threads. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stddef.h>

/*
 * Returns the number of threads that a computation should use: the number of processors that this
 * process may use, at most 16.
 */
size_t parallel_worker_cnt(void);

/*
 * Calls work() once for each number below worker_cnt (at most 64), each in its own thread, and
 * waits for all calls. The calling thread makes the call for number 0, and also the calls for which
 * no thread could be started. If calls spend time waiting, a worker_cnt above the number of
 * processors is useful.
 */
void parallel_run(size_t worker_cnt, void (*work)(void *arg, size_t worker), void *arg);

#endif
