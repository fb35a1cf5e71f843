// SPDX-License-Identifier: GPL-2.0-or-later
/* Receives open files of a process, and answers with the parts of its resident memory. */
#include "proof/rss_server.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/byte_buffer.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "helper/call.h"
#include "proof/rss_count.h"

/* Maximum size of /proc/PID/smaps in bytes, enough for some 300,000 mappings. */
#define SMAPS_BYTES_MAX (256U << 20)
#define PIECE_BYTES (1U << 16)

struct rss_server {
	struct rss_files files;
	struct rss_blocks blocks;
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

static int count(const struct rss_server *server, int smaps_fd, struct rss *ret,
		 struct rss_pinners *ret_pinners)
{
	struct byte_buffer text = {0};
	struct smaps smaps;
	int err = read_text(smaps_fd, &text);

	if (!err)
		err = smaps_parse((const char *)text.bytes, text.len, &smaps);
	free(text.bytes);
	if (err)
		return err;
	err = rss_count(&server->files, &server->blocks, &smaps, ret, ret_pinners);
	smaps_deinit(&smaps);
	return err;
}

static void answer(struct rss_server *server, struct message_cursor *cursor, int smaps_fd,
		   struct message *reply)
{
	struct rss_pinners pinners = {.cnt = 0};
	struct rss rss = {0};

	server->files.zero_frame = message_get_u64(cursor);
	server->files.page_size = message_get_u64(cursor);
	message_put_u32(reply, (uint32_t)count(server, smaps_fd, &rss, &pinners));
	message_put_u64(reply, rss.arenas);
	message_put_u64(reply, rss.torn_arenas);
	message_put_u64(reply, rss.skipped_arenas);
	for (unsigned int i = 0; i < RSS_PART_CNT; i++)
		message_put_u64(reply, rss.parts[i]);
	message_put_u32(reply, rss.allocator);
	message_put_u32(reply, rss.has_blocks);
	message_put_u64(reply, rss.outside);
	for (size_t i = 0; rss.has_blocks && i < HEAP_CLASSES; i++) {
		message_put_u64(reply, rss.older[i].bytes);
		message_put_u64(reply, rss.older[i].count);
	}
	message_put_u64(reply, rss.pinned_by_older);
	message_put_u32(reply, (uint32_t)pinners.cnt);
	for (size_t i = 0; i < pinners.cnt; i++) {
		message_put_u32(reply, pinners.items[i].site);
		message_put_u64(reply, pinners.items[i].bytes);
	}
	drop_blocks(&server->blocks);
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
	case RSS_SMAPS:
		answer(server, &cursor, request->fd, reply);
		return 0;
	default:
		return -EPROTO;
	}
}

void rss_server_main(int sock)
{
	struct rss_server server = {.files = {.mem_fd = -1, .pagemap_fd = -1}};

	helper_serve(sock, handle, &server);
}
