/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts, confines and ends a helper process, which works on input that may be hostile or slow and
 * is connected by a socket. It ends with memleak, or when the socket is closed. Knows nothing of
 * the work; call.h has the requests.
 */
#ifndef HELPER_HELPER_H
#define HELPER_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "helper/confine.h"
#include "helper/kind.h"
#include "helper/message.h"

/* A helper. Must not be moved while it runs. */
struct helper {
	const struct helper_kind *kind;
	pid_t pid; /* pid of the helper; 0 if it is not running */
	int sock;  /* socket to the helper; -1 if it is not running */
	/* number of starts; a new process knows nothing of earlier requests */
	unsigned int incarnation;
	struct message answer; /* the answer that is being received */
	struct helper *next;
};

#define HELPER_INIT(of_kind)                                                                       \
	{                                                                                          \
		.kind = (of_kind), .sock = -1, .answer = {.fd = -1 }                               \
	}

/*
 * Starts the helper, unless it is running. It inherits no open file but the socket, calls work()
 * and ends when that returns. Its memory is that of memleak when the first helper was started.
 */
int helper_start(struct helper *helper);

/* Time, in milliseconds, for a helper to end by itself; a sanitizer's leak check takes longer. */
#define HELPER_GRACE_MS (HELPER_SANITIZED ? 5000 : 50)

/*
 * Closes the socket, waits up to grace_ms for the helper to end, then kills it. Does nothing if it
 * is not running. The helper can be started again.
 */
void helper_stop(struct helper *helper, unsigned int grace_ms);
/* Stops the helper and frees its memory. */
void helper_deinit(struct helper *helper, unsigned int grace_ms);

/*
 * Returns the first running helper, from which `next` leads to the others; NULL if none is running.
 */
const struct helper *helper_running(void);

/*
 * True if a helper is using or waiting for a processor; false if it sleeps, such as for file data.
 */
bool helper_is_runnable(const struct helper *helper);

/* Returns the CPU time of a process that is running, or a zombie; 0 if unknown. */
uint64_t helper_cpu_ns(pid_t pid);
/* Returns the CPU time of all stopped helpers. */
uint64_t helper_stopped_cpu_ns(void);

#endif
