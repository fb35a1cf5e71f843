/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for events in other processes. Timeouts are long: a slow machine must not fail a test. */
#ifndef TESTS_UNIT_LIB_PROCESS_H
#define TESTS_UNIT_LIB_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Maximum wait for an event, in milliseconds; only a hang takes longer */
#define PATIENCE_MS 120000U
#define PATIENCE_NS (PATIENCE_MS * 1000000ULL)

/* Returns a CLOCK_MONOTONIC deadline for calls that must succeed. */
uint64_t patience(void);

/* Sends SIGSTOP to a process and waits until it has stopped. The process need not be a child. */
void process_stop(pid_t pid);

/* Waits until a process has ended; a zombie counts as ended. The process need not be a child. */
void process_await_end(pid_t pid);

/* True if the process has ended or is a zombie. */
bool process_has_ended(pid_t pid);

/*
 * Returns the number of bytes that this process has read so far; 0 if the kernel does not count
 * them.
 */
uint64_t process_read_bytes(void);

#endif
