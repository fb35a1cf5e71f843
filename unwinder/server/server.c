// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers requests: builds tables, and walks stacks. */
#include "unwinder/server/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "helper/call.h"
#include "unwinder/server/builder.h"
#include "unwinder/server/protocol.h"
#include "unwinder/server/walker_space.h"

struct numbered_space {
	uint32_t number;
	struct walker_space *space;
};

struct unwind_server {
	struct numbered_space *spaces;
	size_t cnt;
	size_t cap;
	struct unwind_copy copy;
	struct walker_stack stack;
};

/*
 * Writes the table's words to a memory file. Returns its fd, or a negative errno if memory is
 * short.
 */
static int store_words(const struct unwind_table *table)
{
	const char *at = (const char *)table->words;
	size_t left = (size_t)table->page_cnt * UNWIND_PAGE_WORDS * sizeof(uint32_t);
	int fd = memfd_create("unwind table", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	while (fd >= 0 && left) {
		ssize_t written = write(fd, at, left);

		if (written <= 0) {
			close(fd);
			return -ENOMEM;
		}
		at += written;
		left -= (size_t)written;
	}
	return fd < 0 ? -errno : fd;
}

static int build_table(int fd, struct message *reply)
{
	struct unwind_table table = {0};
	int err = fd < 0 ? -EPROTO : unwind_table_build(fd, &table), words_fd = -1;

	if (!err)
		words_fd = store_words(&table);
	if (!err && words_fd < 0)
		err = words_fd;
	else
		reply->fd = words_fd;
	message_put_u32(reply, (uint32_t)-err);
	message_put_u32(reply, table.rule_cnt);
	message_put_u32(reply, table.index);
	message_put_u32(reply, table.granule_cnt);
	message_put_u64(reply, table.first);
	message_put_u32(reply, table.row_cnt);
	unwind_table_deinit(&table);
	return 0;
}

static struct numbered_space *find(struct unwind_server *server, uint32_t number)
{
	for (size_t i = 0; i < server->cnt; i++)
		if (server->spaces[i].number == number)
			return &server->spaces[i];
	return NULL;
}

static void close_space(struct unwind_server *server, uint32_t number)
{
	struct numbered_space *space = find(server, number);

	if (!space)
		return;
	walker_space__free(space->space);
	*space = server->spaces[--server->cnt];
}

static int open_space(struct unwind_server *server, uint32_t number)
{
	int err;

	close_space(server, number);
	if (array_reserve(&server->spaces, &server->cap, server->cnt + 1))
		return -ENOMEM;
	err = walker_space__new(&server->spaces[server->cnt].space);
	if (!err)
		server->spaces[server->cnt++].number = number;
	return err;
}

static int add_code(struct unwind_server *server, uint32_t number, struct message_cursor *cursor,
		    struct message *request)
{
	struct numbered_space *space = find(server, number);
	struct walker_code code;

	code.start = message_get_u64(cursor);
	code.offset = message_get_u64(cursor);
	code.headers = message_get_u64(cursor);
	if (cursor->bad || !space || request->fd < 0)
		return -EPROTO;
	walker_space__add(space->space, request->fd, &code);
	request->fd = -1;
	return 0;
}

static bool copy_valid(const struct unwind_copy *copy)
{
	return copy->register_cnt <= UNWIND_COPY_REGISTERS && copy->call_cnt <= UNWIND_COPY_CALLS &&
	       copy->stack.bytes <= UNWIND_COPY_BYTES &&
	       copy->other.bytes <= UNWIND_COPY_OTHER_BYTES;
}

static int walk(struct unwind_server *server, uint32_t number, struct message_cursor *cursor,
		struct message *reply)
{
	const void *bytes = message_get_bytes(cursor, sizeof(server->copy));
	struct numbered_space *space = find(server, number);
	struct walker_stack *stack = &server->stack;

	if (!bytes || !space)
		return -EPROTO;
	memcpy(&server->copy, bytes, sizeof(server->copy));
	if (!copy_valid(&server->copy))
		return -EPROTO;
	walker_space__walk(space->space, &server->copy, stack);
	message_put_u32(reply, stack->end);
	message_put_u32(reply, (uint32_t)stack->cnt);
	message_put_bytes(reply, stack->frames, stack->cnt * sizeof(*stack->frames));
	return 0;
}

static int handle(void *arg, struct message *request, struct message *reply)
{
	struct message_cursor cursor = message_read(request);
	uint32_t kind = message_get_u32(&cursor);
	uint32_t number = kind == UNWIND_TABLE ? 0 : message_get_u32(&cursor);
	struct unwind_server *server = arg;

	switch (kind) {
	case UNWIND_TABLE:
		return build_table(request->fd, reply);
	case WALKER_OPEN:
		return open_space(server, number);
	case WALKER_CODE:
		return add_code(server, number, &cursor, request);
	case WALKER_CLOSE:
		close_space(server, number);
		return 0;
	case WALKER_WALK:
		return walk(server, number, &cursor, reply);
	default:
		return -EPROTO;
	}
}

void unwind_server_main(int sock)
{
	struct unwind_server *server = calloc(1, sizeof(*server));

	/* Stop elfutils from downloading debug files. */
	unsetenv("DEBUGINFOD_URLS");
	if (server)
		helper_serve(sock, handle, server);
	while (server && server->cnt)
		close_space(server, server->spaces[0].number);
	if (server)
		free(server->spaces);
	free(server);
}
