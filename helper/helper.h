/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts, confines and ends a helper process, which works on input that may be hostile or slow.
 * memleak and the helper are connected by a socket. The helper ends when memleak ends or the socket
 * is closed. Requests to helpers are in call.h.
 */
#ifndef HELPER_HELPER_H
#define HELPER_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "helper/confine.h"
#include "helper/kind.h"
#include "helper/message.h"

/* A helper. The struct must not be moved while the helper runs. */
struct helper {
	const struct helper_kind *kind;
	pid_t pid;                /* pid of the helper; 0 if it is not running */
	int sock;                 /* socket to the helper; -1 if it is not running */
	unsigned int incarnation; /* number of starts; if it changes, the process is a new one */
	struct message answer;    /* answer that is being received, perhaps over several calls */
	struct helper *next;
};

#define HELPER_INIT(of_kind)                                                                       \
	{                                                                                          \
		.kind = (of_kind), .sock = -1, .answer = {.fd = -1 }                               \
	}

/*
 * Starts the helper, unless it is running. The helper inherits no open file but the socket, calls
 * work() and ends when that returns. It begins with the memory that memleak had when the starter
 * was started (starter.h). Returns 0 or a negative errno.
 */
int helper_start(struct helper *helper);

/*
 * Time, in milliseconds, that a helper gets to end by itself. A sanitizer's leak check needs
 * longer.
 */
#define HELPER_GRACE_MS (HELPER_SANITIZED ? 5000 : 50)

/*
 * Closes the socket, waits up to grace_ms for the helper to end, then kills it. Does nothing if the
 * helper is not running. The helper can be started again.
 */
void helper_stop(struct helper *helper, unsigned int grace_ms);
/* Stops the helper, and frees the memory of its struct's members. */
void helper_deinit(struct helper *helper, unsigned int grace_ms);

/* Returns the head of the list of running helpers, linked by `next`; NULL if none is running. */
const struct helper *helper_running(void);

/*
 * True if a helper is using or waiting for a processor; false if it sleeps, for example until file
 * data is read.
 */
bool helper_is_runnable(const struct helper *helper);

/* Returns the CPU time of a process that was not reaped yet, in ns; 0 if unknown. */
uint64_t helper_cpu_ns(pid_t pid);
/* Returns the total CPU time of all helpers that were stopped, in ns. */
uint64_t helper_stopped_cpu_ns(void);

#endif
