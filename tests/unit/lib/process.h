/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for events in other processes: long, as only a hang may fail a test and never a slow
 * machine.
 */
#ifndef TESTS_UNIT_LIB_PROCESS_H
#define TESTS_UNIT_LIB_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Maximum wait for an event that must come; a hang takes longer. */
#define PATIENCE_MS 120000U
#define PATIENCE_NS (PATIENCE_MS * 1000000ULL)

/* Returns the deadline of a call that must succeed, in CLOCK_MONOTONIC. */
uint64_t patience(void);

/* Sends SIGSTOP to a process, which need not be a child, and waits until it has stopped. */
void process_stop(pid_t pid);

/* Waits until a process, which need not be a child, has ended: nobody need have waited for it. */
void process_await_end(pid_t pid);

/* True if the process has ended. A zombie has. */
bool process_has_ended(pid_t pid);

/* Returns the bytes this process has read from files; 0 if the kernel does not count them. */
uint64_t process_read_bytes(void);

#endif
