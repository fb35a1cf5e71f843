// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends requests to the helper that walks stacks, and checks its answers. */
#include "unwinder/walker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "helper/call.h"
#include "unwinder/server/protocol.h"
#include "unwinder/unwinder.h"

/*
 * Maximum time, in nanoseconds, to send a close request. Sending usually takes no time, as the
 * helper is idle and its socket empty.
 */
#define CLOSE_NS 100000000ULL

struct walker {
	struct unwinder *own;
	struct helper *helper;
	struct message request;
};

int walker__new(struct walker **ret)
{
	struct walker *walker = calloc(1, sizeof(*walker));
	int err;

	if (!walker)
		return -ENOMEM;
	walker->request.fd = -1;
	err = unwinder__new(&walker->own);
	if (err) {
		walker__free(walker);
		return err;
	}
	walker->helper = unwinder__helper(walker->own);
	*ret = walker;
	return 0;
}

void walker__free(struct walker *walker)
{
	if (!walker)
		return;
	unwinder__free(walker->own);
	message_deinit(&walker->request);
	free(walker);
}

/*
 * Returns err. If err is not 0, first ends the helper, which may still be working on the request.
 */
static int check(struct walker *walker, int err)
{
	if (err)
		helper_stop(walker->helper, 0);
	return err;
}

static struct message *begin(struct walker *walker, uint32_t kind, uint32_t space)
{
	message_reset(&walker->request);
	message_put_u32(&walker->request, kind);
	message_put_u32(&walker->request, space);
	return &walker->request;
}

/*
 * Sends a request that is not answered. Fails if the helper has ended, since a new helper has no
 * spaces.
 */
static int send_request(struct walker *walker, uint64_t deadline_ns)
{
	int err = -EPIPE;

	if (walker->helper->pid)
		err = check(walker, helper_send(walker->helper, &walker->request, deadline_ns));
	if (!err)
		helper_note_message(walker->helper, false);
	return err;
}

int walker__open(struct walker *walker, uint32_t space, uint64_t deadline_ns)
{
	int err = helper_start(walker->helper);

	begin(walker, WALKER_OPEN, space);
	return err ? err : send_request(walker, deadline_ns);
}

int walker__add_code(struct walker *walker, uint32_t space, int fd, const struct walker_code *code,
		     uint64_t deadline_ns)
{
	struct message *request = begin(walker, WALKER_CODE, space);
	int err;

	message_put_u64(request, code->start);
	message_put_u64(request, code->offset);
	message_put_u64(request, code->headers);
	request->fd = fd;
	/* Check the deadline even if sending does not block: opening many files takes seconds. */
	err = clock_left_ms(deadline_ns) ? send_request(walker, deadline_ns)
					 : check(walker, -ETIMEDOUT);
	request->fd = -1; /* The caller keeps fd. */
	return err;
}

void walker__close(struct walker *walker, uint32_t space)
{
	begin(walker, WALKER_CLOSE, space);
	send_request(walker, clock_deadline_ns(CLOSE_NS));
}

static int take_stack(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	uint32_t end = message_get_u32(&cursor), cnt = message_get_u32(&cursor);
	struct walker_stack *ret = arg;
	const void *frames;

	if (cursor.bad || end >= WALKER_END_CNT || cnt > WALKER_FRAMES_MAX)
		return -EPROTO;
	frames = message_get_bytes(&cursor, cnt * sizeof(*ret->frames));
	if (cnt && !frames)
		return -EPROTO;
	if (cnt)
		memcpy(ret->frames, frames, cnt * sizeof(*ret->frames));
	ret->cnt = cnt;
	ret->end = end;
	return 0;
}

int walker__walk(struct walker *walker, uint32_t space, const struct unwind_copy *copy,
		 uint64_t deadline_ns, struct walker_stack *ret)
{
	message_put_bytes(begin(walker, WALKER_WALK, space), copy, sizeof(*copy));
	if (!walker->helper->pid)
		return -EPIPE;
	return check(walker,
		     helper_call(walker->helper, &walker->request, deadline_ns, take_stack, ret));
}
