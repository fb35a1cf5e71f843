// SPDX-License-Identifier: GPL-2.0-or-later
/* Receives open files of a process, and replies with its resident memory by use. */
#include "proof/rss_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/order.h"
#include "helper/call.h"
#include "options/options.h"
#include "prober/server/python_layout.h"
#include "proof/python_heap.h"
#include "proof/rss_count.h"
#include "proof/rss_reading.h"

/* Maximum size of /proc/PID/smaps in bytes, enough for some 300,000 mappings. */
#define SMAPS_BYTES_MAX (256U << 20)
#define PIECE_BYTES (1U << 16)

/*
 * Maximum time to count Python's objects, in nanoseconds. memleak waits for the reply up to three
 * times as long, so it reports resident memory even if the count does not end in time.
 */
#define PYTHON_NS 20000000000ULL

struct rss_server {
	struct rss_files files;
	struct rss_blocks blocks;
	int original_fd;  /* smaps of the process if a copy of it is read; else -1 */
	uint64_t program; /* number of the program of the previous reading; 0 if there was none */
	/* layout of this program's interpreter; NULL if source lines cannot be read */
	const struct python_layout *layout;
	struct options opts; /* only the paths of --own */
	struct python_heap *python;
};

static void take_fd(int *fd, struct message *request)
{
	if (*fd >= 0)
		close(*fd);
	*fd = request->fd;
	request->fd = -1;
}

static int read_text(int fd, struct byte_buffer *text)
{
	static char piece[PIECE_BYTES];
	ssize_t got;

	while (text->len < SMAPS_BYTES_MAX && (got = read(fd, piece, sizeof(piece))) > 0)
		bytes_put(text, piece, (size_t)got);
	if (text->failed)
		return -ENOMEM;
	return text->len < SMAPS_BYTES_MAX ? 0 : -E2BIG;
}

static int by_addr(const void *a, const void *b)
{
	const struct heap_block *left = a, *right = b;

	return ORDER(left->addr, right->addr);
}

static int read_blocks(int fd, uint64_t cnt, struct rss_blocks *ret)
{
	size_t len = cnt * sizeof(*ret->items), done = 0;
	ssize_t got = 1;

	ret->items = cnt < SIZE_MAX / sizeof(*ret->items) ? malloc(len + 1) : NULL;
	if (!ret->items)
		return -ENOMEM;
	while (done < len && got > 0) {
		got = pread(fd, (char *)ret->items + done, len - done, (off_t)done);
		done += got > 0 ? (size_t)got : 0;
	}
	if (done < len)
		return -EPROTO;
	qsort(ret->items, cnt, sizeof(*ret->items), by_addr);
	ret->cnt = cnt;
	ret->is_known = true;
	return 0;
}

static void drop_blocks(struct rss_blocks *blocks)
{
	free(blocks->items);
	*blocks = (struct rss_blocks){0};
}

/*
 * Forgets the counts of Python's objects if the previous reading had another program or another
 * layout (e.g. none).
 */
static void set_program(struct rss_server *server, uint64_t program, uint32_t version)
{
	const struct python_layout *layout = python_layout_of(version);

	if (server->program == program && server->layout == layout)
		return;
	python_heap__free(server->python);
	server->python = NULL;
	server->program = program;
	server->layout = layout;
}

/*
 * Compares the address `key` with a block: 0 if it is in the block, negative if below, positive if
 * above.
 */
static int by_position(const void *key, const void *block)
{
	const struct heap_block *at = block;
	uint64_t addr = *(const uint64_t *)key;

	if (addr < at->addr)
		return -1;
	return addr - at->addr >= at->size;
}

/* Returns the site of the block that contains an address; HEAP_BLOCK_NO_SITE if there is none. */
static uint32_t site_at(const struct rss_blocks *blocks, uint64_t addr)
{
	const struct heap_block *found = blocks->cnt ? bsearch(&addr, blocks->items, blocks->cnt,
							       sizeof(*blocks->items), by_position)
						     : NULL;

	return found ? heap_block_site(found) : HEAP_BLOCK_NO_SITE;
}

/* Counts Python's objects. If memory or time runs out, growth stays unknown. */
static void count_python(struct rss_server *server, const struct proc_maps *maps,
			 struct rss_reading *ret)
{
	struct resident_memory resident;
	uint64_t items[PYTHON_CONTAINERS_MAX];

	if (!server->program || (!server->layout && !python_heap_is_in(maps)))
		return;
	if (!server->python)
		server->python = python_heap__new(&server->opts);
	if (!server->python)
		return;
	resident_memory_init(&server->files, maps, &resident);
	if (python_heap__read(server->python, &resident.memory, server->layout,
			      clock_ns(CLOCK_MONOTONIC), clock_deadline_ns(PYTHON_NS), &ret->python,
			      items))
		ret->python = (struct python_growth){.class_cnt = 0};
	for (size_t i = 0; i < ret->python.container_cnt; i++)
		ret->container_sites[i] = site_at(&server->blocks, items[i]);
}

static int parse(int smaps_fd, struct smaps *ret)
{
	struct byte_buffer text = {0};
	int err = read_text(smaps_fd, &text);

	if (!err)
		err = smaps_parse((const char *)text.bytes, text.len, ret);
	free(text.bytes);
	return err;
}

static int count(struct rss_server *server, int smaps_fd, struct rss_reading *ret)
{
	bool is_copy = server->original_fd >= 0;
	struct smaps smaps, original;
	int err = is_copy ? parse(server->original_fd, &original) : 0;

	if (err)
		return err;
	err = parse(smaps_fd, &smaps);
	if (!err) {
		err = rss_count(&server->files, &server->blocks, &smaps, is_copy ? &original : NULL,
				&ret->rss, &ret->pinners);
		if (!err)
			count_python(server, &smaps.maps, ret);
		smaps_deinit(&smaps);
	}
	if (is_copy)
		smaps_deinit(&original);
	return err;
}

static void put_python(struct message *reply, const struct rss_reading *reading)
{
	const struct python_growth *python = &reading->python;

	message_put_u32(reply, python->allocator);
	message_put_u64(reply, python->uncounted);
	message_put_u32(reply, (uint32_t)python->class_cnt);
	for (size_t i = 0; i < python->class_cnt; i++) {
		message_put_string(reply, python->classes[i].name);
		message_put_u64(reply, python->classes[i].count);
		message_put_u64(reply, python->classes[i].more);
		message_put_u64(reply, python->classes[i].more_bytes);
		message_put_u64(reply, python->classes[i].for_ns);
		message_put_string(reply, python->classes[i].place.function);
		message_put_string(reply, python->classes[i].place.file);
		message_put_u32(reply, python->classes[i].place.line);
	}
	message_put_u32(reply, (uint32_t)python->container_cnt);
	for (size_t i = 0; i < python->container_cnt; i++) {
		message_put_u32(reply, python->containers[i].named_by);
		message_put_string(reply, python->containers[i].name);
		message_put_string(reply, python->containers[i].class);
		message_put_u64(reply, python->containers[i].addr);
		message_put_u64(reply, python->containers[i].items);
		message_put_u64(reply, python->containers[i].more);
		message_put_u64(reply, python->containers[i].for_ns);
		message_put_u32(reply, reading->container_sites[i]);
	}
}

/* Reads the paths of --own. They are the same in all requests, so only the first ones are kept. */
static void take_own(struct rss_server *server, struct message_cursor *cursor)
{
	struct options *opts = &server->opts;
	uint32_t cnt = message_get_u32(cursor);
	bool is_known = opts->own_cnt;

	for (uint32_t i = 0; i < cnt && !cursor->bad; i++) {
		size_t len;
		const char *path = message_get_string(cursor, &len);

		if (!path || is_known || array_reserve(&opts->own, &opts->own_cap, i + 1))
			continue;
		opts->own[opts->own_cnt] = strndup(path, len);
		opts->own_cnt += opts->own[opts->own_cnt] != NULL;
	}
}

static void answer(struct rss_server *server, struct message_cursor *cursor, int smaps_fd,
		   struct message *reply)
{
	static struct rss_reading reading;
	const struct rss *rss = &reading.rss;
	uint64_t program;

	memset(&reading, 0, sizeof(reading));
	program = message_get_u64(cursor);
	set_program(server, program, message_get_u32(cursor));
	server->files.zero_frame = message_get_u64(cursor);
	server->files.page_size = message_get_u64(cursor);
	take_own(server, cursor);
	message_put_u32(reply, (uint32_t)count(server, smaps_fd, &reading));
	message_put_u64(reply, rss->arenas);
	message_put_u64(reply, rss->torn_arenas);
	message_put_u64(reply, rss->skipped_arenas);
	for (unsigned int i = 0; i < RSS_PART_CNT; i++)
		message_put_u64(reply, rss->parts[i]);
	message_put_u64(reply, rss->huge);
	message_put_u64(reply, rss->swapped);
	message_put_u64(reply, rss->main_top);
	message_put_u64(reply, rss->room);
	message_put_u32(reply, rss->allocator);
	message_put_u32(reply, rss->has_blocks);
	message_put_u64(reply, rss->outside);
	for (size_t i = 0; rss->has_blocks && i < HEAP_CLASSES; i++) {
		message_put_u64(reply, rss->older[i].bytes);
		message_put_u64(reply, rss->older[i].count);
	}
	message_put_u64(reply, rss->pinned_by_older);
	message_put_u32(reply, (uint32_t)reading.pinners.cnt);
	for (size_t i = 0; i < reading.pinners.cnt; i++) {
		message_put_u32(reply, reading.pinners.items[i].site);
		message_put_u64(reply, reading.pinners.items[i].bytes);
	}
	put_python(reply, &reading);
	drop_blocks(&server->blocks);
	if (server->original_fd >= 0)
		close(server->original_fd);
	server->original_fd = -1;
}

static int handle(void *arg, struct message *request, struct message *reply)
{
	struct message_cursor cursor = message_read(request);
	struct rss_server *server = arg;

	if (request->fd < 0)
		return -EPROTO;
	switch (message_get_u32(&cursor)) {
	case RSS_MEM:
		take_fd(&server->files.mem_fd, request);
		return 0;
	case RSS_PAGEMAP:
		take_fd(&server->files.pagemap_fd, request);
		return 0;
	case RSS_BLOCKS:
		drop_blocks(&server->blocks);
		return read_blocks(request->fd, message_get_u64(&cursor), &server->blocks);
	case RSS_ORIGINAL_SMAPS:
		take_fd(&server->original_fd, request);
		return 0;
	case RSS_SMAPS:
		answer(server, &cursor, request->fd, reply);
		return 0;
	default:
		return -EPROTO;
	}
}

void rss_server_main(int sock)
{
	struct rss_server server = {.files = {.mem_fd = -1, .pagemap_fd = -1}, .original_fd = -1};

	helper_serve(sock, handle, &server);
}
