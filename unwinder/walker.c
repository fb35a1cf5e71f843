// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks the helper that walks by libdwfl, and believes it no more than it must. */
#include "unwinder/walker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "helper/call.h"
#include "unwinder/server/protocol.h"
#include "unwinder/unwinder.h"

/* The first walk through a file reads its tables. */
#define HANG_NS (10 * 1000000000ULL)

struct walker {
	struct unwinder *own; /* NULL: it is somebody else's */
	struct helper *helper;
	unsigned int incarnation; /* of the helper that was told */
	bool failed;              /* over our work */
	struct message request;
};

int walker__new(struct unwinder *unwinder, struct walker **ret)
{
	struct walker *walker = calloc(1, sizeof(*walker));
	int err;

	if (!walker)
		return -ENOMEM;
	walker->request.fd = -1;
	err = unwinder ? 0 : unwinder__new(&walker->own);
	if (!err) {
		walker->helper = unwinder__helper(unwinder ? unwinder : walker->own);
		err = helper_start(walker->helper);
	}
	if (err) {
		walker__free(walker);
		return err;
	}
	walker->incarnation = walker->helper->incarnation;
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

static bool is_told(const struct walker *walker)
{
	return walker->helper->pid && walker->helper->incarnation == walker->incarnation;
}

bool walker__was_lost(struct walker *walker)
{
	if (walker->failed || is_told(walker) || helper_start(walker->helper))
		return false;
	walker->incarnation = walker->helper->incarnation;
	return true;
}

/* Whatever has become of it, it does not go on with our work. */
static int check(struct walker *walker, int err)
{
	if (!err)
		return 0;
	helper_stop(walker->helper, 0);
	walker->failed = true;
	return err;
}

static struct message *begin(struct walker *walker, uint32_t kind, uint32_t space)
{
	message_reset(&walker->request);
	message_put_u32(&walker->request, kind);
	message_put_u32(&walker->request, space);
	return &walker->request;
}

static int send_request(struct walker *walker)
{
	if (!is_told(walker))
		return -EPIPE;
	return check(walker,
		     helper_send(walker->helper, &walker->request, clock_deadline_ns(HANG_NS)));
}

int walker__open(struct walker *walker, uint32_t space)
{
	begin(walker, WALKER_OPEN, space);
	return send_request(walker);
}

int walker__add_code(struct walker *walker, uint32_t space, int fd, const struct walker_code *code)
{
	struct message *request = begin(walker, WALKER_CODE, space);
	int err;

	message_put_u64(request, code->start);
	message_put_u64(request, code->offset);
	message_put_u64(request, code->headers);
	request->fd = fd;
	err = send_request(walker);
	request->fd = -1; /* the caller's */
	return err;
}

void walker__close(struct walker *walker, uint32_t space)
{
	begin(walker, WALKER_CLOSE, space);
	send_request(walker);
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
		 struct walker_stack *ret)
{
	message_put_bytes(begin(walker, WALKER_WALK, space), copy, sizeof(*copy));
	if (!is_told(walker))
		return -EPIPE;
	return check(walker, helper_call(walker->helper, &walker->request,
					 clock_deadline_ns(HANG_NS), take_stack, ret));
}
