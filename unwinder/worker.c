// SPDX-License-Identifier: GPL-2.0-or-later
/* The helper's loop: files in, tables out. */
#include "unwinder/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolizer/wire.h"
#include "unwinder/builder.h"

/* The words as a file in memory; a negative errno: there is no memory for it. */
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

static int answer(int sock, int fd, struct wire_message *msg)
{
	struct unwind_table table = {0};
	int err = fd < 0 ? -EPROTO : unwind_table_build(fd, &table);

	if (!err) {
		msg->fd = store_words(&table);
		err = msg->fd < 0 ? msg->fd : 0;
	}
	wire_put_u32(msg, (uint32_t)-err);
	wire_put_u32(msg, table.rule_cnt);
	wire_put_u32(msg, table.index);
	wire_put_u32(msg, table.granule_cnt);
	wire_put_u64(msg, table.first);
	wire_put_u32(msg, table.row_cnt);
	unwind_table_deinit(&table);
	if (msg->fd < 0)
		msg->fd = -1;
	return wire_send(sock, msg, WIRE_FOREVER);
}

void unwind_worker_main(int sock)
{
	struct wire_message request = {.fd = -1}, reply = {.fd = -1};
	int err;

	/* Fetching debug files is not the business of this process. */
	unsetenv("DEBUGINFOD_URLS");
	do {
		wire_message_reset(&request);
		wire_message_reset(&reply);
		err = wire_receive(sock, &request, WIRE_FOREVER);
		if (!err)
			err = answer(sock, request.fd, &reply);
	} while (!err);
	wire_message_deinit(&request);
	wire_message_deinit(&reply);
}
