/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process at the other end of a socket, for work on input that may be hostile or slow:
 * started, confined, ended. It ends with memleak, and when the socket is closed. Knows nothing
 * of what the work is; call.h has what is said over the socket.
 */
#ifndef HELPER_HELPER_H
#define HELPER_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "helper/confine.h"
#include "helper/kind.h"
#include "helper/message.h"

/* Stays where it is while it runs. */
struct helper {
	const struct helper_kind *kind;
	pid_t pid;                /* 0: not running */
	int sock;                 /* -1: not running */
	unsigned int incarnation; /* counts starts: what an earlier process was told is lost */
	struct message answer;    /* that is being received */
	struct helper *next;
};

#define HELPER_INIT(of_kind)                                                                       \
	{                                                                                          \
		.kind = (of_kind), .sock = -1, .answer = {.fd = -1 }                               \
	}

/*
 * Starts it, unless it runs: it has no open file but the socket, runs work and ends when that
 * returns. It has the memory that memleak had when the first helper was started.
 */
int helper_start(struct helper *helper);

/* To end by itself; a sanitizer's leak check takes time. */
#define HELPER_GRACE_MS (HELPER_SANITIZED ? 5000 : 50)

/*
 * Closes the socket, gives the child grace_ms to end by itself, then kills it. Nothing happens to
 * one that does not run. It can be started again.
 */
void helper_stop(struct helper *helper, unsigned int grace_ms);
/* Stops it for good. */
void helper_deinit(struct helper *helper, unsigned int grace_ms);

/* The first helper that runs, which leads to the others by next; NULL: none runs. */
const struct helper *helper_running(void);

/* True if a helper uses a processor or waits for one; false if it sleeps, as for a file's bytes. */
bool helper_is_runnable(const struct helper *helper);

/* CPU time of a process that runs, or has ended and is not waited for yet; 0: not known. */
uint64_t helper_cpu_ns(pid_t pid);
/* CPU time of all helpers that were stopped. */
uint64_t helper_stopped_cpu_ns(void);

#endif
