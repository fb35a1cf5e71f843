// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks the helper that walks by libdwfl, and believes it no more than it must. */
#include "unwinder/reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/helper.h"
#include "symbolizer/wire.h"
#include "unwinder/reference_worker.h"

/* The first walk through a file reads its tables. */
#define HANG_MS 10000
/* To end by itself; a sanitizer's leak check takes time. */
#define GRACE_MS (HELPER_SANITIZED ? 5000 : 50)

struct reference {
	struct helper helper;
	struct wire_message request;
	struct wire_message answer;
};

int reference__new(struct reference **ret)
{
	struct reference *reference = calloc(1, sizeof(*reference));
	int err;

	if (!reference)
		return -ENOMEM;
	reference->helper = (struct helper)HELPER_INIT;
	reference->request.fd = reference->answer.fd = -1;
	err = helper_start(&reference->helper, "unwind-check", HELPER_DROPS_RIGHTS,
			   reference_worker_main);
	if (err) {
		reference__free(reference);
		return err;
	}
	*ret = reference;
	return 0;
}

void reference__free(struct reference *reference)
{
	if (!reference)
		return;
	helper_stop(&reference->helper, GRACE_MS);
	wire_message_deinit(&reference->request);
	wire_message_deinit(&reference->answer);
	free(reference);
}

static int fail(struct reference *reference, int err)
{
	helper_stop(&reference->helper, 0);
	return err;
}

static struct wire_message *begin(struct reference *reference, uint32_t kind, uint32_t space)
{
	wire_message_reset(&reference->request);
	wire_put_u32(&reference->request, kind);
	wire_put_u32(&reference->request, space);
	return &reference->request;
}

static int send_request(struct reference *reference)
{
	int err;

	if (!reference->helper.pid)
		return -EPIPE;
	err = wire_send(reference->helper.sock, &reference->request, wire_now_ms() + HANG_MS);
	return err ? fail(reference, err) : 0;
}

int reference__open(struct reference *reference, uint32_t space)
{
	begin(reference, REFERENCE_OPEN, space);
	return send_request(reference);
}

int reference__add_code(struct reference *reference, uint32_t space, int fd,
			const struct reference_code *code)
{
	struct wire_message *request = begin(reference, REFERENCE_CODE, space);
	int err;

	wire_put_u64(request, code->start);
	wire_put_u64(request, code->offset);
	wire_put_u64(request, code->headers);
	request->fd = fd;
	err = send_request(reference);
	request->fd = -1; /* the caller's */
	return err;
}

void reference__close(struct reference *reference, uint32_t space)
{
	begin(reference, REFERENCE_CLOSE, space);
	send_request(reference);
}

static int take_answer(struct reference *reference, struct reference_stack *ret)
{
	struct wire_cursor cursor = wire_read(&reference->answer);
	uint32_t end = wire_get_u32(&cursor), cnt = wire_get_u32(&cursor);
	const void *frames;

	if (cursor.bad || end >= REFERENCE_END_CNT || cnt > REFERENCE_FRAMES_MAX)
		return -EPROTO;
	frames = wire_get_bytes(&cursor, cnt * sizeof(*ret->frames));
	if (cnt && !frames)
		return -EPROTO;
	if (cnt)
		memcpy(ret->frames, frames, cnt * sizeof(*ret->frames));
	ret->cnt = cnt;
	ret->end = end;
	return 0;
}

int reference__walk(struct reference *reference, uint32_t space, const struct unwind_copy *copy,
		    struct reference_stack *ret)
{
	int err;

	wire_put_bytes(begin(reference, REFERENCE_WALK, space), copy, sizeof(*copy));
	err = send_request(reference);
	if (err)
		return err;
	wire_message_reset(&reference->answer);
	err = wire_receive(reference->helper.sock, &reference->answer, wire_now_ms() + HANG_MS);
	if (!err)
		err = take_answer(reference, ret);
	return err ? fail(reference, err) : 0;
}
