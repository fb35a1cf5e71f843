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
	bool awaits_answer;       /* true if the last message was a request */
	uint64_t message_cpu_ns;  /* CPU time that the helper had used at the last message */
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

/*
 * Maximum CPU time, in nanoseconds, that a helper may use after an answer: some helpers send
 * several answers to a request, each within ten seconds.
 */
#define HELPER_IDLE_CPU_NS (20 * 1000000000ULL)

/* Notes that a request was sent to the helper, or that the helper has sent an answer. */
void helper_note_message(struct helper *helper, bool is_request);
/*
 * Ends confined helpers that have used more CPU time than most_ns since their last answer, and were
 * sent no request since: hostile input has taken them over. They are started again when needed.
 */
void helpers_end_spinning(uint64_t most_ns);

/* Returns the CPU time of a process that was not reaped yet, in ns; 0 if unknown. */
uint64_t helper_cpu_ns(pid_t pid);
/* Returns the total CPU time of all helpers that were stopped, in ns. */
uint64_t helper_stopped_cpu_ns(void);

#endif
