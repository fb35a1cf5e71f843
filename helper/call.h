/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to a helper process and its answers, on both sides. A helper that dies or answers
 * nonsense costs its answer and nothing else: the next request starts it again. Knows nothing of
 * what is asked.
 */
#ifndef HELPER_CALL_H
#define HELPER_CALL_H

#include "helper/helper.h"

/* Reads an answer, whose fd it may take. 0, or what is wrong with it: -EPROTO, -ENOMEM. */
typedef int (*helper_take_fn)(void *arg, struct message *answer);

/*
 * Sends a request, to a helper that is started if none runs, and empties it. Its fd stays the
 * caller's. -EPIPE: the helper had died; -ETIMEDOUT: its socket is full.
 */
int helper_send(struct helper *helper, struct message *request, uint64_t deadline_ns);

/*
 * Waits for an answer. -ETIMEDOUT: the helper goes on, and a later call may take the answer. After
 * any other error, which is -EPIPE (it died) or what take says, it has been ended.
 */
int helper_take(struct helper *helper, uint64_t deadline_ns, helper_take_fn take, void *arg);

/*
 * The same, for some milliseconds only once memleak is asked to end: -EINTR, and the helper goes
 * on, too.
 */
int helper_take_unless_ended(struct helper *helper, uint64_t deadline_ns, helper_take_fn take,
			     void *arg);

/* Both, for an answer that nobody takes later: after -ETIMEDOUT, too, the helper has been ended. */
int helper_call(struct helper *helper, struct message *request, uint64_t deadline_ns,
		helper_take_fn take, void *arg);

/*
 * Handles a request, whose fd it may take. What it leaves in reply, if anything, is sent; before
 * that it may send answers itself. An error ends the helper.
 */
typedef int (*helper_handle_fn)(void *arg, struct message *request, struct message *reply);

/* The helper's side, until the other one closes the socket or a request cannot be handled. */
void helper_serve(int sock, helper_handle_fn handle, void *arg);

/* Sends an answer and empties it. */
int helper_reply(int sock, struct message *reply);

#endif
