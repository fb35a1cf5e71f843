// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers requests: builds tables, and walks stacks. */
#include "unwinder/server/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/write_all.h"
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
	int words_fd; /* memory file to which tables are written; -1 if none was received */
	struct unwind_copy copy;
	struct walker_stack stack;
};

static int take_words_file(struct unwind_server *server, struct message *request)
{
	if (request->fd < 0 || server->words_fd >= 0)
		return -EPROTO;
	server->words_fd = request->fd;
	request->fd = -1;
	return 0;
}

/* Writes the table's words to the memory file. Returns -ENOMEM if memory is short. */
static int store_words(const struct unwind_server *server, const struct unwind_table *table)
{
	size_t len = (size_t)table->page_cnt * UNWIND_PAGE_WORDS * sizeof(uint32_t);

	if (lseek(server->words_fd, 0, SEEK_SET))
		return -EPROTO;
	return write_all(server->words_fd, (const char *)table->words, len) ? -ENOMEM : 0;
}

static int build_table(const struct unwind_server *server, int fd, struct message *reply)
{
	struct unwind_table table = {0};
	int err = fd < 0 ? -EPROTO : unwind_table_build(fd, &table);

	if (!err)
		err = store_words(server, &table);
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
	       copy->stack.bytes <= UNWIND_COPY_BYTES;
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
	uint32_t number = kind <= UNWIND_TABLE ? 0 : message_get_u32(&cursor);
	struct unwind_server *server = arg;

	switch (kind) {
	case UNWIND_WORDS:
		return take_words_file(server, request);
	case UNWIND_TABLE:
		return build_table(server, request->fd, reply);
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
	if (server) {
		server->words_fd = -1;
		helper_serve(sock, handle, server);
	}
	while (server && server->cnt)
		close_space(server, server->spaces[0].number);
	if (server)
		free(server->spaces);
	free(server);
}
