// SPDX-License-Identifier: GPL-2.0-or-later
/* The helper's loop: code and stacks in, frames out. */
#include "unwinder/reference_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/wire.h"
#include "unwinder/reference_space.h"

struct numbered_space {
	uint32_t number;
	struct reference_space *space;
};

struct reference_worker {
	struct numbered_space *spaces;
	size_t cnt;
	struct unwind_copy copy;
	struct reference_stack stack;
};

static struct numbered_space *find(struct reference_worker *worker, uint32_t number)
{
	for (size_t i = 0; i < worker->cnt; i++)
		if (worker->spaces[i].number == number)
			return &worker->spaces[i];
	return NULL;
}

static void close_space(struct reference_worker *worker, uint32_t number)
{
	struct numbered_space *space = find(worker, number);

	if (!space)
		return;
	reference_space__free(space->space);
	*space = worker->spaces[--worker->cnt];
}

static int open_space(struct reference_worker *worker, uint32_t number)
{
	struct numbered_space *grown;
	int err;

	close_space(worker, number);
	grown = reallocarray(worker->spaces, worker->cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	worker->spaces = grown;
	err = reference_space__new(&grown[worker->cnt].space);
	if (err)
		return err;
	grown[worker->cnt++].number = number;
	return 0;
}

static int add_code(struct reference_worker *worker, uint32_t number, struct wire_message *msg,
		    struct wire_cursor *cursor)
{
	struct numbered_space *space = find(worker, number);
	struct reference_code code;

	code.start = wire_get_u64(cursor);
	code.offset = wire_get_u64(cursor);
	code.headers = wire_get_u64(cursor);
	if (cursor->bad || !space || msg->fd < 0)
		return -EPROTO;
	reference_space__add(space->space, msg->fd, &code);
	msg->fd = -1;
	return 0;
}

static bool copy_valid(const struct unwind_copy *copy)
{
	return copy->register_cnt <= UNWIND_COPY_REGISTERS && copy->call_cnt <= UNWIND_COPY_CALLS &&
	       copy->stack.bytes <= UNWIND_COPY_BYTES &&
	       copy->other.bytes <= UNWIND_COPY_OTHER_BYTES;
}

static int walk(struct reference_worker *worker, uint32_t number, struct wire_cursor *cursor,
		int sock)
{
	const void *bytes = wire_get_bytes(cursor, sizeof(worker->copy));
	struct numbered_space *space = find(worker, number);
	struct reference_stack *stack = &worker->stack;
	struct wire_message reply = {.fd = -1};
	int err;

	if (!bytes || !space)
		return -EPROTO;
	memcpy(&worker->copy, bytes, sizeof(worker->copy));
	if (!copy_valid(&worker->copy))
		return -EPROTO;
	reference_space__walk(space->space, &worker->copy, stack);
	wire_put_u32(&reply, stack->end);
	wire_put_u32(&reply, (uint32_t)stack->cnt);
	wire_put_bytes(&reply, stack->frames, stack->cnt * sizeof(*stack->frames));
	err = wire_send(sock, &reply, WIRE_FOREVER);
	wire_message_deinit(&reply);
	return err;
}

static int handle(struct reference_worker *worker, struct wire_message *request, int sock)
{
	struct wire_cursor cursor = wire_read(request);
	uint32_t kind = wire_get_u32(&cursor), number = wire_get_u32(&cursor);

	switch (kind) {
	case REFERENCE_OPEN:
		return open_space(worker, number);
	case REFERENCE_CODE:
		return add_code(worker, number, request, &cursor);
	case REFERENCE_CLOSE:
		close_space(worker, number);
		return 0;
	case REFERENCE_WALK:
		return walk(worker, number, &cursor, sock);
	default:
		return -EPROTO;
	}
}

void reference_worker_main(int sock)
{
	struct reference_worker *worker = calloc(1, sizeof(*worker));
	struct wire_message request = {.fd = -1};
	int err = worker ? 0 : -ENOMEM;

	/* Fetching debug files is not the business of this process. */
	unsetenv("DEBUGINFOD_URLS");
	while (!err) {
		wire_message_reset(&request);
		err = wire_receive(sock, &request, WIRE_FOREVER);
		if (!err)
			err = handle(worker, &request, sock);
	}
	wire_message_deinit(&request);
	while (worker && worker->cnt)
		close_space(worker, worker->spaces[0].number);
	if (worker)
		free(worker->spaces);
	free(worker);
}
