/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends requests to a helper process and receives answers, on both sides. A helper that ends or
 * sends an invalid answer costs that answer and nothing else: the next request starts a new one.
 * Knows nothing of the requests' content.
 */
#ifndef HELPER_CALL_H
#define HELPER_CALL_H

#include "helper/helper.h"

/* Parses an answer; may take its fd. Returns 0, -EPROTO or -ENOMEM. */
typedef int (*helper_take_fn)(void *arg, struct message *answer);

/*
 * Sends a request and empties it; starts the helper if needed. The request's fd stays the caller's.
 * Returns -EPIPE if the helper had ended, -ETIMEDOUT if its socket stayed full.
 */
int helper_send(struct helper *helper, struct message *request, uint64_t deadline_ns);

/*
 * Waits for an answer. After -ETIMEDOUT the helper continues, and a later call may receive the
 * answer. After any other error, which is -EPIPE (the helper ended) or an error of take(), the
 * helper has been ended.
 */
int helper_take(struct helper *helper, uint64_t deadline_ns, helper_take_fn take, void *arg);

/*
 * Like helper_take(), but returns -EINTR within 50 ms of a termination signal; the helper keeps
 * running.
 */
int helper_take_unless_ended(struct helper *helper, uint64_t deadline_ns, helper_take_fn take,
			     void *arg);

/*
 * Sends a request and waits for the answer. After any error, including -ETIMEDOUT, the helper has
 * been ended.
 */
int helper_call(struct helper *helper, struct message *request, uint64_t deadline_ns,
		helper_take_fn take, void *arg);

/*
 * Handles a request; may take its fd, and may send answers itself. A non-empty reply is sent
 * afterwards. An error ends the helper.
 */
typedef int (*helper_handle_fn)(void *arg, struct message *request, struct message *reply);

/* Handles requests until the socket is closed or handle() fails. Runs in the helper. */
void helper_serve(int sock, helper_handle_fn handle, void *arg);

/* Sends an answer and empties it. */
int helper_reply(int sock, struct message *reply);

#endif
