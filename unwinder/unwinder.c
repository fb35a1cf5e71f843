// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks the helper for tables and believes nothing of what it answers. */
#include "unwinder/unwinder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolizer/helper.h"
#include "symbolizer/wire.h"
#include "unwinder/worker.h"

/* To end by itself; a sanitizer's leak check takes time. */
#define GRACE_MS (HELPER_SANITIZED ? 5000 : 50)

struct unwinder {
	struct helper helper;
	struct wire_message answer;
};

static int start(struct unwinder *unwinder)
{
	if (unwinder->helper.pid)
		return 0;
	return helper_start(&unwinder->helper, "unwinder", HELPER_DROPS_RIGHTS, unwind_worker_main);
}

int unwinder__new(struct unwinder **ret)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));
	int err;

	if (!unwinder)
		return -ENOMEM;
	unwinder->helper = (struct helper)HELPER_INIT;
	unwinder->answer.fd = -1;
	err = start(unwinder);
	if (err) {
		unwinder__free(unwinder);
		return err;
	}
	*ret = unwinder;
	return 0;
}

void unwinder__free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	helper_stop(&unwinder->helper, GRACE_MS);
	wire_message_deinit(&unwinder->answer);
	free(unwinder);
}

static int ask(struct unwinder *unwinder, int fd, int64_t deadline_ms)
{
	struct wire_message request = {.fd = fd};
	int err = start(unwinder);

	if (err)
		return err;
	wire_put_u32(&request, 0);
	err = wire_send(unwinder->helper.sock, &request, deadline_ms);
	request.fd = -1;
	wire_message_deinit(&request);
	wire_message_reset(&unwinder->answer);
	if (!err)
		err = wire_receive(unwinder->helper.sock, &unwinder->answer, deadline_ms);
	if (err)
		helper_stop(&unwinder->helper, 0);
	return err;
}

/*
 * Copies the words. The file must be one in memory (only those have seals), so that reading it
 * neither blocks nor is anything but reading.
 */
static int read_words(int fd, struct unwind_table *table)
{
	const size_t page_bytes = UNWIND_PAGE_WORDS * sizeof(uint32_t);
	struct stat st;
	size_t done = 0, size;

	if (fd < 0 || fcntl(fd, F_GET_SEALS) < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size <= 0 || st.st_size % (off_t)page_bytes ||
	    st.st_size / (off_t)sizeof(uint32_t) > UNWIND_TABLE_WORDS_MAX)
		return -EPROTO;
	size = (size_t)st.st_size;
	table->page_cnt = (uint32_t)(size / page_bytes);
	table->words = malloc(size);
	if (!table->words)
		return -ENOMEM;
	while (done < size) {
		ssize_t len = pread(fd, (char *)table->words + done, size - done, (off_t)done);

		if (len <= 0)
			return -EPROTO;
		done += (size_t)len;
	}
	return 0;
}

static int take_answer(struct unwinder *unwinder, struct unwind_table *ret)
{
	struct wire_cursor cursor = wire_read(&unwinder->answer);
	uint32_t status = wire_get_u32(&cursor);
	struct unwind_table table = {0};
	int err;

	table.rule_cnt = wire_get_u32(&cursor);
	table.index = wire_get_u32(&cursor);
	table.granule_cnt = wire_get_u32(&cursor);
	table.first = wire_get_u64(&cursor);
	table.row_cnt = wire_get_u32(&cursor);
	if (cursor.bad || status > 4095)
		return -EPROTO;
	if (status)
		return -(int)status;
	err = read_words(unwinder->answer.fd, &table);
	if (!err && !unwind_table_valid(&table))
		err = -EPROTO;
	if (err) {
		unwind_table_deinit(&table);
		return err;
	}
	*ret = table;
	return 0;
}

int unwinder__table(struct unwinder *unwinder, int fd, unsigned int wait_ms,
		    struct unwind_table *ret)
{
	int64_t deadline_ms = wire_now_ms() + wait_ms;
	int err = ask(unwinder, fd, deadline_ms);

	/* Perhaps it was not the file that ended the helper: once more. */
	if (err == -EPIPE)
		err = ask(unwinder, fd, deadline_ms);
	if (err)
		return err == -EPIPE ? -EIO : err;
	err = take_answer(unwinder, ret);
	wire_message_reset(&unwinder->answer);
	if (err == -EPROTO)
		helper_stop(&unwinder->helper, 0);
	return err;
}
