// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks the helper for tables and believes nothing of what it answers. */
#include "unwinder/unwinder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/call.h"
#include "unwinder/server/protocol.h"
#include "unwinder/server/server.h"

/*
 * Stacks of a program that has just been executed for the first time are cut until it has a table:
 * a matter of 50 ms of work, for which it has to compete with the program.
 */
#define NICENESS (-10)

struct unwinder {
	struct helper helper;
};

int unwinder__new(struct unwinder **ret)
{
	struct unwinder *unwinder = malloc(sizeof(*unwinder));
	int err;

	if (!unwinder)
		return -ENOMEM;
	unwinder->helper =
		(struct helper)HELPER_INIT("unwinder", HELPER_DROPS_RIGHTS, unwind_server_main);
	unwinder->helper.niceness = NICENESS;
	err = helper_start(&unwinder->helper);
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
	helper_deinit(&unwinder->helper, HELPER_GRACE_MS);
	free(unwinder);
}

struct helper *unwinder__helper(struct unwinder *unwinder)
{
	return &unwinder->helper;
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

struct table_answer {
	int status; /* 0, or why there is no table */
	struct unwind_table table;
};

static int take_table(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	uint32_t status = message_get_u32(&cursor);
	struct unwind_table table = {0};
	struct table_answer *ret = arg;
	int err;

	table.rule_cnt = message_get_u32(&cursor);
	table.index = message_get_u32(&cursor);
	table.granule_cnt = message_get_u32(&cursor);
	table.first = message_get_u64(&cursor);
	table.row_cnt = message_get_u32(&cursor);
	if (cursor.bad || status > 4095)
		return -EPROTO;
	ret->status = -(int)status;
	if (status)
		return ret->status == -EPROTO ? -EPROTO : 0;
	err = read_words(answer->fd, &table);
	if (!err && !unwind_table_valid(&table))
		err = -EPROTO;
	if (err)
		unwind_table_deinit(&table);
	else
		ret->table = table;
	/* Without memory of ours the helper is not to blame. */
	ret->status = err;
	return err == -ENOMEM ? 0 : err;
}

static int ask(struct unwinder *unwinder, int fd, uint64_t deadline_ns, struct table_answer *ret)
{
	struct message request = {.fd = fd};
	int err;

	message_put_u32(&request, UNWIND_TABLE);
	err = helper_call(&unwinder->helper, &request, deadline_ns, take_table, ret);
	message_deinit(&request);
	return err;
}

int unwinder__table(struct unwinder *unwinder, int fd, uint64_t deadline_ns,
		    struct unwind_table *ret)
{
	struct table_answer answer = {0};
	int err = ask(unwinder, fd, deadline_ns, &answer);

	/* Perhaps it was not the file that ended the helper: once more. */
	if (err == -EPIPE)
		err = ask(unwinder, fd, deadline_ns, &answer);
	if (err)
		return err == -EPIPE ? -EIO : err;
	if (!answer.status)
		*ret = answer.table;
	return answer.status;
}
