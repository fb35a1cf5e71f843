// SPDX-License-Identifier: GPL-2.0-or-later
/* The helper's loop: requests in, answers out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/elf_object.h"
#include "symbolizer/name_writer.h"
#include "symbolizer/wire.h"
#include "symbolizer/worker.h"

struct worker {
	int sock;
	struct elf_object **objects; /* by id; NULL: not open */
	size_t cnt;
	struct wire_message request;
	struct wire_message answer;
};

static struct elf_object **object_slot(struct worker *worker, uint32_t id)
{
	struct elf_object **objects;
	size_t cnt;

	if (id < worker->cnt)
		return &worker->objects[id];
	cnt = id + 64;
	objects = reallocarray(worker->objects, cnt, sizeof(*objects));
	if (!objects)
		return NULL;
	memset(objects + worker->cnt, 0, (cnt - worker->cnt) * sizeof(*objects));
	worker->objects = objects;
	worker->cnt = cnt;
	return &objects[id];
}

static int send_answer(struct worker *worker)
{
	int err = wire_send(worker->sock, &worker->answer, WIRE_FOREVER);

	wire_message_reset(&worker->answer);
	return err;
}

static int answer_opened(struct worker *worker, const struct elf_object *obj, int status)
{
	static const struct debug_need nothing = {.kind = NEED_NOTHING};
	const struct debug_need *need = obj ? &obj->need : &nothing;

	wire_put_u32(&worker->answer, WORKER_OPENED);
	wire_put_u32(&worker->answer, -status);
	wire_put_string(&worker->answer, obj ? obj->build_id : NULL);
	wire_put_u32(&worker->answer, need->kind);
	wire_put_string(&worker->answer, need->build_id);
	wire_put_string(&worker->answer, need->file);
	wire_put_u32(&worker->answer, need->crc);
	return send_answer(worker);
}

static int take_fd(struct worker *worker)
{
	int fd = worker->request.fd;

	worker->request.fd = -1;
	return fd;
}

static char *get_copy(struct wire_cursor *cursor)
{
	size_t len;
	const char *text = wire_get_string(cursor, &len);

	return text ? strndup(text, len) : NULL;
}

static int get_anchors(struct wire_cursor *cursor, struct elf_object *obj)
{
	uint32_t cnt = wire_get_u32(cursor);
	int err = 0;

	for (uint32_t i = 0; !err && i < cnt && !cursor->bad; i++) {
		char *name = get_copy(cursor);

		err = name ? elf_object__add_anchor(obj, name, wire_get_u64(cursor)) : -ENOMEM;
		free(name);
	}
	return err;
}

static int handle_open(struct worker *worker, uint32_t id, struct wire_cursor *cursor)
{
	struct elf_object **slot = object_slot(worker, id);
	char *name = get_copy(cursor), *build_id = get_copy(cursor);
	int err = -ENOMEM;

	if (slot) {
		elf_object__free(*slot);
		*slot = NULL;
	}
	if (slot && name && worker->request.fd >= 0)
		err = elf_object__new(take_fd(worker), name, slot);
	else if (slot && name && build_id)
		err = elf_object__new_absent(build_id, name, slot);
	if (!err)
		err = get_anchors(cursor, *slot);
	free(build_id);
	free(name);
	return answer_opened(worker, err ? NULL : *slot, err);
}

static int handle_debug(struct worker *worker, struct elf_object *obj)
{
	int err = -ENOENT;

	if (obj && worker->request.fd >= 0)
		err = elf_object__add_debug(obj, take_fd(worker));
	return answer_opened(worker, obj, err);
}

static int handle_names(struct worker *worker, struct elf_object *obj, struct wire_cursor *cursor)
{
	enum name_level level = wire_get_u32(cursor);
	uint32_t cnt = wire_get_u32(cursor);
	int err;

	if (obj)
		elf_object__load(obj, level);
	for (uint32_t i = 0; obj && i < cnt && !cursor->bad; i++) {
		uint64_t offset = wire_get_u64(cursor);

		wire_put_u32(&worker->answer, WORKER_NAME);
		wire_put_u32(&worker->answer, i);
		name_write(obj, offset, level, &worker->answer);
		err = send_answer(worker);
		if (err)
			return err;
	}
	wire_put_u32(&worker->answer, WORKER_NAMES_DONE);
	return send_answer(worker);
}

static int handle_request(struct worker *worker)
{
	struct wire_cursor cursor = wire_read(&worker->request);
	uint32_t type = wire_get_u32(&cursor);
	uint32_t id = wire_get_u32(&cursor);
	struct elf_object *obj = id < worker->cnt ? worker->objects[id] : NULL;

	switch (type) {
	case WORKER_OPEN:
		return handle_open(worker, id, &cursor);
	case WORKER_DEBUG:
		return handle_debug(worker, obj);
	case WORKER_NAMES:
		return handle_names(worker, obj, &cursor);
	default:
		return -EPROTO;
	}
}

void worker_main(int sock)
{
	struct worker worker = {.sock = sock, .request.fd = -1, .answer.fd = -1};
	int err;

	/* Fetching is not the business of this process, which must not wait for a network. */
	unsetenv("DEBUGINFOD_URLS");
	elf_version(EV_CURRENT);
	do {
		wire_message_reset(&worker.request);
		err = wire_receive(sock, &worker.request, WIRE_FOREVER);
		if (!err)
			err = handle_request(&worker);
	} while (!err);
	for (size_t i = 0; i < worker.cnt; i++)
		elf_object__free(worker.objects[i]);
	free(worker.objects);
	wire_message_deinit(&worker.request);
	wire_message_deinit(&worker.answer);
}
