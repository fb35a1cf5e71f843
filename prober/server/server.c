// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles the requests of prober.c: finds functions in files, and reads memory. */
#include "prober/server/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/script.h"
#include "helper/call.h"
#include "prober/server/code_object.h"
#include "prober/server/elf_functions.h"
#include "prober/server/file_functions.h"
#include "prober/server/interpreter.h"
#include "prober/server/protocol.h"

/* Maximum number of names in a request. Real requests have fewer. */
#define NAMES_MAX 65536

static char *get_copy(struct message_cursor *cursor)
{
	size_t len;
	const char *text = message_get_string(cursor, &len);

	return text ? strndup(text, len) : NULL;
}

static void free_names(struct wanted_function *items, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		free((char *)items[i].name);
	free(items);
}

static int get_names(struct message_cursor *cursor, struct wanted_function **ret, size_t *ret_cnt)
{
	size_t cnt = message_get_u32(cursor);
	struct wanted_function *items = cnt <= NAMES_MAX ? calloc(cnt + 1, sizeof(*items)) : NULL;

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		items[i].name = get_copy(cursor);
		items[i].argument_cnt = message_get_u32(cursor);
		items[i].everywhere = message_get_u32(cursor);
		items[i].followed = message_get_u32(cursor);
	}
	if (cursor->bad) {
		free_names(items, cnt);
		return -EPROTO;
	}
	*ret = items;
	*ret_cnt = cnt;
	return 0;
}

static void put_function(struct message *reply, const struct found_function *function)
{
	message_put_u32(reply, (uint32_t)function->name);
	message_put_u64(reply, function->offset);
	message_put_u32(reply, function->exported);
	message_put_u64(reply, function->place.offset);
	message_put_u32(reply, function->place.emulated);
	message_put_string(reply, function->place.insn);
	message_put_u32(reply, function->verdict);
	message_put_u32(reply, (uint32_t)function->through);
	message_put_u32(reply, function->jumps_there);
	message_put_u32(reply, (uint32_t)function->return_cnt);
	for (size_t i = 0; i < function->return_cnt; i++)
		message_put_u64(reply, function->returns[i]);
}

static int handle_functions(struct message_cursor *cursor, int fd, struct message *reply)
{
	struct wanted_function *items = NULL;
	struct file_functions functions = {0};
	uint16_t machine = (uint16_t)message_get_u32(cursor);
	struct wanted_functions wanted = {.scope = message_get_u32(cursor)};
	int err;

	wanted.through = message_get_u32(cursor);
	wanted.at_entry = message_get_u32(cursor);
	err = get_names(cursor, &items, &wanted.cnt);
	if (err)
		return err;
	wanted.items = items;
	err = file_functions_init(fd, machine, &wanted, &functions);
	message_put_u32(reply, (uint32_t)-err);
	message_put_u64(reply, functions.surplus_cnt);
	message_put_u32(reply, functions.indirect);
	message_put_u32(reply, (uint32_t)functions.cnt);
	for (size_t i = 0; i < functions.cnt; i++)
		put_function(reply, &functions.items[i]);
	file_functions_deinit(&functions);
	free_names(items, wanted.cnt);
	return 0;
}

static int handle_name(uint32_t kind, struct message_cursor *cursor, int fd, struct message *reply)
{
	char *name = get_copy(cursor), *near;
	uint64_t value = 0;

	if (!name)
		return -EPROTO;
	if (kind == PROBER_SECTION) {
		message_put_u32(reply, elf_has_section(fd, name));
	} else if (kind == PROBER_NEAREST) {
		near = elf_nearest_function(fd, name);
		message_put_string(reply, near ? near : "");
		free(near);
	} else {
		message_put_u32(reply, elf_variable_find(fd, name, &value));
		message_put_u64(reply, value);
	}
	free(name);
	return 0;
}

/* Reads the memory of a process. If the read blocks, memleak ends this helper after a while. */
static int handle_memory(struct message_cursor *cursor, int fd, struct message *reply)
{
	uint64_t addr = message_get_u64(cursor);
	size_t len = message_get_u32(cursor);
	char bytes[PROBER_MEMORY_MAX] = {0};
	bool whole;

	if (cursor->bad || len > sizeof(bytes))
		return -EPROTO;
	whole = addr <= INT64_MAX && pread(fd, bytes, len, (off_t)addr) == (ssize_t)len;
	message_put_u32(reply, whole);
	message_put_bytes(reply, bytes, len);
	return 0;
}

static int handle_interpreter(int fd, struct message *reply)
{
	struct interpreter found = {0};

	message_put_u32(reply, (uint32_t)-interpreter_find(fd, &found));
	message_put_u32(reply, found.version);
	message_put_u32(reply, found.is_free_threaded);
	message_put_u64(reply, found.runtime);
	message_put_u64(reply, found.free_code);
	for (size_t i = 0; i < LOOP_PARTS; i++) {
		message_put_u64(reply, found.loop[i].start);
		message_put_u64(reply, found.loop[i].end);
	}
	return 0;
}

static bool read_memory(void *arg, uint64_t addr, void *buf, size_t len)
{
	const int *fd = arg;

	return pread(*fd, buf, len, (off_t)addr) == (ssize_t)len;
}

static int handle_script(struct message_cursor *cursor, int fd, struct message *reply)
{
	const struct python_layout *layout = python_layout_of(message_get_u32(cursor));
	const struct object_memory memory = {read_memory, &fd};
	uint64_t addr = message_get_u64(cursor);
	uint32_t distance = message_get_u32(cursor);
	uint32_t cookie = message_get_u32(cursor);
	struct code_object code = {0};
	int err;

	if (!layout || cursor->bad)
		return -EPROTO;
	err = code_object_read(&memory, layout, addr, cookie, &code);
	message_put_u32(reply, (uint32_t)-err);
	message_put_string(reply, code.name);
	message_put_string(reply, code.path);
	message_put_u32(reply, err ? 0 : code_object_line(&code, layout, distance));
	code_object_deinit(&code);
	return 0;
}

static int handle(void *arg, struct message *request, struct message *reply)
{
	struct message_cursor cursor = message_read(request);
	uint32_t kind = message_get_u32(&cursor);

	if (request->fd < 0 || kind > PROBER_SCRIPT)
		return -EPROTO;
	if (kind == PROBER_FUNCTIONS)
		return handle_functions(&cursor, request->fd, reply);
	if (kind == PROBER_MEMORY)
		return handle_memory(&cursor, request->fd, reply);
	if (kind == PROBER_INTERPRETER)
		return handle_interpreter(request->fd, reply);
	if (kind == PROBER_SCRIPT)
		return handle_script(&cursor, request->fd, reply);
	return handle_name(kind, &cursor, request->fd, reply);
}

void prober_server_main(int sock)
{
	helper_serve(sock, handle, NULL);
}
