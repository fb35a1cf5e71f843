// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends requests to helpers, and serves requests in a helper. */
#include "helper/call.h"

#include <errno.h>

#include "base/clock.h"
#include "base/fair_lock.h"
#include "base/signals.h"

/*
 * Interval, in nanoseconds, at which memleak checks for a termination signal while it waits for an
 * answer.
 */
#define SLICE_NS (50 * 1000000ULL)

int helper_send(struct helper *helper, struct message *request, uint64_t deadline_ns)
{
	int err = helper_start(helper);

	if (!err)
		err = message_send(helper->sock, request, deadline_ns);
	if (err == -EPIPE)
		helper_stop(helper, 0);
	else if (!err)
		helper_note_message(helper, true);
	request->fd = -1;
	message_reset(request);
	return err;
}

int helper_take(struct helper *helper, uint64_t deadline_ns, helper_take_fn take, void *arg)
{
	int err =
		helper->pid ? message_receive(helper->sock, &helper->answer, deadline_ns) : -EPIPE;

	if (err == -ETIMEDOUT)
		return err;
	/* Confined helpers have no files to send: such a file could keep memory in use. */
	if (!err && helper->answer.fd >= 0 && helper->kind->rights != HELPER_KEEPS_RIGHTS)
		err = -EPROTO;
	if (!err)
		err = take(arg, &helper->answer);
	message_reset(&helper->answer);
	if (err)
		helper_stop(helper, 0);
	else
		helper_note_message(helper, false);
	return err;
}

int helper_take_unless_ended(struct helper *helper, uint64_t deadline_ns, helper_take_fn take,
			     void *arg)
{
	for (;;) {
		uint64_t slice_ns = clock_deadline_ns(SLICE_NS);
		int err = helper_take(helper, slice_ns < deadline_ns ? slice_ns : deadline_ns, take,
				      arg);

		if (err != -ETIMEDOUT)
			return err;
		if (signals_end_pending())
			return -EINTR;
		if (!clock_left_ms(deadline_ns) || fair_lock_is_interrupted())
			return -ETIMEDOUT;
	}
}

int helper_call(struct helper *helper, struct message *request, uint64_t deadline_ns,
		helper_take_fn take, void *arg)
{
	int err = helper_send(helper, request, deadline_ns);

	if (!err)
		err = helper_take(helper, deadline_ns, take, arg);
	if (err == -ETIMEDOUT)
		helper_stop(helper, 0);
	return err;
}

int helper_reply(int sock, struct message *reply)
{
	int err = message_send(sock, reply, MESSAGE_FOREVER);

	message_reset(reply);
	return err;
}

void helper_serve(int sock, helper_handle_fn handle, void *arg)
{
	struct message request = {.fd = -1}, reply = {.fd = -1};
	int err;

	do {
		message_reset(&request);
		err = message_receive(sock, &request, MESSAGE_FOREVER);
		if (!err)
			err = handle(arg, &request, &reply);
		if (!err && (reply.len || reply.failed))
			err = helper_reply(sock, &reply);
	} while (!err);
	message_deinit(&request);
	message_deinit(&reply);
}
