// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles the requests of symbolizer/client.c. */
#include "symbolizer/server/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "helper/call.h"
#include "symbolizer/server/elf_object.h"
#include "symbolizer/server/name_writer.h"
#include "symbolizer/server/protocol.h"
#include "symbolizer/server/unpack.h"

struct symbol_server {
	int sock;
	/* open objects, indexed by the module's id; NULL if not open */
	struct elf_object **objects;
	size_t cnt, cap;
};

static struct elf_object **object_slot(struct symbol_server *server, uint32_t id)
{
	if (array_reserve(&server->objects, &server->cap, (size_t)id + 1))
		return NULL;
	while (server->cnt <= id)
		server->objects[server->cnt++] = NULL;
	return &server->objects[id];
}

static int answer_opened(struct message *reply, const struct elf_object *obj, int status)
{
	static const struct file_need nothing = {.kind = NEED_NOTHING};
	const struct file_need *need = obj ? &obj->need : &nothing;

	message_put_u32(reply, SERVER_OPENED);
	message_put_u32(reply, -status);
	message_put_string(reply, obj ? obj->build_id : NULL);
	message_put_u32(reply, need->kind);
	message_put_string(reply, need->build_id);
	message_put_string(reply, need->file);
	message_put_u32(reply, need->crc);
	return 0;
}

static int take_fd(struct message *request)
{
	int fd = request->fd;

	request->fd = -1;
	return fd;
}

static char *get_copy(struct message_cursor *cursor)
{
	size_t len;
	const char *text = message_get_string(cursor, &len);

	return text ? strndup(text, len) : NULL;
}

static int get_anchors(struct message_cursor *cursor, struct elf_object *obj)
{
	uint32_t cnt = message_get_u32(cursor);
	int err = 0;

	for (uint32_t i = 0; !err && i < cnt && !cursor->bad; i++) {
		char *name = get_copy(cursor);

		err = name ? elf_object__add_anchor(obj, name, message_get_u64(cursor)) : -ENOMEM;
		free(name);
	}
	return err;
}

static int handle_open(struct symbol_server *server, uint32_t id, struct message_cursor *cursor,
		       struct message *request, struct message *reply)
{
	struct elf_object **slot = object_slot(server, id);
	char *name = get_copy(cursor), *build_id = get_copy(cursor);
	int err = -ENOMEM;

	if (slot) {
		elf_object__free(*slot);
		*slot = NULL;
	}
	if (slot && name && request->fd >= 0)
		err = elf_object__new(take_fd(request), name, slot);
	else if (slot && name && build_id)
		err = elf_object__new_absent(build_id, name, slot);
	if (!err)
		err = get_anchors(cursor, *slot);
	free(build_id);
	free(name);
	return answer_opened(reply, err ? NULL : *slot, err);
}

static int handle_debug(struct elf_object *obj, struct message *request, struct message *reply)
{
	int err = -ENOENT;

	if (obj && request->fd >= 0)
		err = elf_object__add_debug(obj, take_fd(request));
	return answer_opened(reply, obj, err);
}

static int handle_names(struct symbol_server *server, struct elf_object *obj,
			struct message_cursor *cursor, struct message *reply)
{
	enum name_level level = message_get_u32(cursor);
	uint32_t cnt = message_get_u32(cursor);
	int err = 0;

	for (uint32_t i = 0; !err && obj && i < cnt && !cursor->bad; i++) {
		enum name_kind kind = message_get_u32(cursor);
		uint64_t offset = message_get_u64(cursor), anchor = message_get_u64(cursor);

		if (kind >= NAME_KIND_CNT)
			return -EPROTO;
		elf_object__load(obj, kind, level);
		message_put_u32(reply, SERVER_NAME);
		message_put_u32(reply, i);
		if (kind == NAME_OF_CODE)
			name_write(obj, offset, level, reply);
		else
			variable_write(obj, kind, offset, anchor, level, reply);
		err = helper_reply(server->sock, reply);
	}
	message_put_u32(reply, SERVER_NAMES_DONE);
	message_put_u32(reply, obj ? obj->unreadable : READABLE);
	return err;
}

static int handle_close(struct symbol_server *server, uint32_t id)
{
	if (id < server->cnt) {
		elf_object__free(server->objects[id]);
		server->objects[id] = NULL;
	}
	return 0;
}

static int handle(void *arg, struct message *request, struct message *reply)
{
	struct message_cursor cursor = message_read(request);
	uint32_t type = message_get_u32(&cursor);
	uint32_t id = message_get_u32(&cursor);
	struct symbol_server *server = arg;
	struct elf_object *obj = id < server->cnt ? server->objects[id] : NULL;

	switch (type) {
	case SERVER_OPEN:
		return handle_open(server, id, &cursor, request, reply);
	case SERVER_DEBUG:
		return handle_debug(obj, request, reply);
	case SERVER_NAMES:
		return handle_names(server, obj, &cursor, reply);
	case SERVER_CLOSE:
		return handle_close(server, id);
	default:
		return -EPROTO;
	}
}

/* Requests a memory file of the given size from memleak. */
static int ask_memory(void *arg, uint64_t bytes)
{
	const struct symbol_server *server = arg;
	struct message msg = {.fd = -1};
	int err, fd;

	message_put_u32(&msg, SERVER_MEMORY);
	message_put_u64(&msg, bytes);
	err = helper_reply(server->sock, &msg);
	if (!err)
		err = message_receive(server->sock, &msg, MESSAGE_FOREVER);
	fd = msg.fd < 0 ? -EFBIG : msg.fd;
	msg.fd = -1;
	message_deinit(&msg);
	return err ? err : fd;
}

void symbolizer_server_main(int sock)
{
	struct symbol_server server = {.sock = sock};

	unpack_init(ask_memory, &server);
	/* Prevent elfutils from downloading files: this process must not wait for a network. */
	unsetenv("DEBUGINFOD_URLS");
	elf_version(EV_CURRENT);
	helper_serve(sock, handle, &server);
	for (size_t i = 0; i < server.cnt; i++)
		elf_object__free(server.objects[i]);
	free(server.objects);
}
