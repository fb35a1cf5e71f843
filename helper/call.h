/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both sides of the connection between memleak, which sends requests, and a helper, which answers
 * them. If a helper ends or sends an invalid answer, only that answer is lost: the next request
 * starts a new helper. Does not parse the contents of requests.
 */
#ifndef HELPER_CALL_H
#define HELPER_CALL_H

#include "helper/helper.h"

/*
 * Parses an answer. May take over answer->fd, and then sets it to -1; only helpers with
 * HELPER_KEEPS_RIGHTS can send files. Returns 0, -EPROTO or -ENOMEM.
 */
typedef int (*helper_take_fn)(void *arg, struct message *answer);

/*
 * Sends a request, first starting the helper if none is running, and empties the message. The
 * caller keeps the request's fd. Returns 0 or a negative errno, such as -EPIPE if the helper has
 * died unnoticed (the next call starts a new one), or -ETIMEDOUT if the socket stayed full.
 */
int helper_send(struct helper *helper, struct message *request, uint64_t deadline_ns);

/*
 * Waits for an answer and passes it to take(). Returns 0 or a negative errno. After -ETIMEDOUT the
 * helper continues, and a later call may receive the answer. After any other error (-EPIPE if the
 * helper ended, or an error of take()), the helper has been stopped.
 */
int helper_take(struct helper *helper, uint64_t deadline_ns, helper_take_fn take, void *arg);

/*
 * Like helper_take(), but returns -EINTR within 50 ms after a termination signal, and -ETIMEDOUT
 * before the deadline if fair_lock_interrupt() interrupts the calling thread. In both cases the
 * helper continues.
 */
int helper_take_unless_ended(struct helper *helper, uint64_t deadline_ns, helper_take_fn take,
			     void *arg);

/*
 * Sends a request and waits for the answer. Returns 0 or a negative errno. After -ETIMEDOUT, -EPIPE
 * or any error in receiving the answer, the helper has been stopped.
 */
int helper_call(struct helper *helper, struct message *request, uint64_t deadline_ns,
		helper_take_fn take, void *arg);

/*
 * Handles a request. May take over request->fd (and then sets it to -1), and may send answers
 * itself. If `reply` is not empty afterwards, it is sent. A return value other than 0 ends the
 * helper.
 */
typedef int (*helper_handle_fn)(void *arg, struct message *request, struct message *reply);

/* In the helper: passes requests to handle() until the socket is closed or handle() fails. */
void helper_serve(int sock, helper_handle_fn handle, void *arg);

/* Sends an answer, and empties the message. */
int helper_reply(int sock, struct message *reply);

#endif
