// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests tables from the helper, and checks its answers. */
#include "unwinder/unwinder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/signals.h"
#include "helper/call.h"
#include "unwinder/server/protocol.h"
#include "unwinder/server/server.h"

/*
 * Niceness of the helper. Negative, because stacks of a newly executed program are cut off until
 * its table is built, which takes about 50 ms of processor time, for which the helper competes with
 * the program.
 */
#define NICENESS (-10)

#define SEND_NS 1000000000ULL
/*
 * Maximum wait, in nanoseconds, when the main loop calls unwinder__take(). Calls before tracing
 * begins wait longer.
 */
#define ROUND_NS 1000000000ULL

static const struct helper_kind unwinder_kind = {
	.name = "unwinder",
	.rights = HELPER_DROPS_RIGHTS,
	.work = unwind_server_main,
	.niceness = NICENESS,
};
HELPER_KIND(unwinder_kind);

struct unwinder {
	struct helper helper;
	int fd; /* descriptor of the file whose table is requested; -1 if there is none */
	/* memory file to which the helper writes tables; -1 if there is none */
	int words_fd;
	unsigned int
		incarnation; /* incarnation (helper.incarnation) of the helper that has words_fd */
	bool again;          /* true if the request was sent again after a helper ended */
};

int unwinder__new(struct unwinder **ret)
{
	struct unwinder *unwinder = malloc(sizeof(*unwinder));
	int err;

	if (!unwinder)
		return -ENOMEM;
	unwinder->helper = (struct helper)HELPER_INIT(&unwinder_kind);
	unwinder->fd = unwinder->words_fd = -1;
	unwinder->incarnation = 0;
	unwinder->again = false;
	err = helper_start(&unwinder->helper);
	if (err) {
		unwinder__free(unwinder);
		return err;
	}
	*ret = unwinder;
	return 0;
}

static void close_words(struct unwinder *unwinder)
{
	if (unwinder->words_fd >= 0)
		close(unwinder->words_fd);
	unwinder->words_fd = -1;
}

/* Closes the file whose table was requested, and frees the memory of the table's words. */
static void end_work(struct unwinder *unwinder)
{
	if (unwinder->fd >= 0)
		close(unwinder->fd);
	unwinder->fd = -1;
	if (unwinder->words_fd >= 0 && ftruncate(unwinder->words_fd, 0))
		close_words(unwinder);
}

void unwinder__free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	/* Kill a busy helper immediately, since its result is no longer needed. */
	helper_deinit(&unwinder->helper, unwinder->fd < 0 ? HELPER_GRACE_MS : 0);
	end_work(unwinder);
	close_words(unwinder);
	free(unwinder);
}

struct helper *unwinder__helper(struct unwinder *unwinder)
{
	return &unwinder->helper;
}

/* Copies the table's words from the memory file. */
static int read_words(int fd, struct unwind_table *table)
{
	const size_t page_bytes = UNWIND_PAGE_WORDS * sizeof(uint32_t);
	struct stat st;
	size_t done = 0, size;

	if (fstat(fd, &st) || st.st_size <= 0 || st.st_size % (off_t)page_bytes ||
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
	const struct unwinder *unwinder;
	int status; /* 0, or a negative errno that says why there is no table */
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
	err = read_words(ret->unwinder->words_fd, &table);
	if (!err && !unwind_table_valid(&table))
		err = -EPROTO;
	if (err)
		unwind_table_deinit(&table);
	else
		ret->table = table;
	/* After -ENOMEM, the helper keeps running: memleak ran out of memory, not the helper. */
	ret->status = err;
	return err == -ENOMEM ? 0 : err;
}

static int send_fd(struct unwinder *unwinder, enum unwind_request kind, int fd)
{
	struct message request = {.fd = fd};
	int err;

	message_put_u32(&request, kind);
	/* Sending does not block: the helper is idle, so its socket is empty. */
	err = helper_send(&unwinder->helper, &request, clock_deadline_ns(SEND_NS));
	message_deinit(&request);
	return err;
}

/*
 * Sends a new helper the memory file for its tables. Helpers make no files themselves: memory in
 * files has no limit per process. This process keeps the file open, to empty it after each table.
 */
static int send_words_file(struct unwinder *unwinder)
{
	int err = helper_start(&unwinder->helper);

	if (err || unwinder->incarnation == unwinder->helper.incarnation)
		return err;
	close_words(unwinder);
	unwinder->words_fd = memfd_create("unwind table", MFD_CLOEXEC);
	if (unwinder->words_fd < 0)
		return -errno;
	err = send_fd(unwinder, UNWIND_WORDS, unwinder->words_fd);
	if (!err)
		unwinder->incarnation = unwinder->helper.incarnation;
	return err;
}

static int send_file(struct unwinder *unwinder)
{
	int err = send_words_file(unwinder);

	return err ? err : send_fd(unwinder, UNWIND_TABLE, unwinder->fd);
}

/*
 * Sends the request again, as the helper may have ended for an unrelated reason. Returns -EIO if it
 * was already sent again.
 */
static int send_again(struct unwinder *unwinder)
{
	if (unwinder->again)
		return -EIO;
	unwinder->again = true;
	return send_file(unwinder);
}

int unwinder__begin(struct unwinder *unwinder, int fd)
{
	int err;

	unwinder->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	unwinder->again = false;
	err = send_file(unwinder);
	if (err == -EPIPE)
		err = send_again(unwinder);
	if (err)
		unwinder__give_up(unwinder);
	return err;
}

int unwinder__take(struct unwinder *unwinder, uint64_t deadline_ns, struct unwind_table *ret)
{
	int (*take)(struct helper * helper, uint64_t deadline_ns, helper_take_fn take, void *arg) =
		helper_take_unless_ended;
	struct table_answer answer = {.unwinder = unwinder};
	int err;

	/*
	 * Do not interrupt a short wait when memleak is about to end: the last stacks also need
	 * tables.
	 */
	if (deadline_ns <= clock_deadline_ns(ROUND_NS))
		take = helper_take;
	else if (signals_end_pending())
		deadline_ns = 0;
	err = take(&unwinder->helper, deadline_ns, take_table, &answer);
	while (err == -EPIPE) {
		err = send_again(unwinder);
		if (!err)
			err = take(&unwinder->helper, deadline_ns, take_table, &answer);
	}
	if (err == -ETIMEDOUT || err == -EINTR)
		return -EAGAIN;
	end_work(unwinder);
	if (err)
		return err;
	if (!answer.status)
		*ret = answer.table;
	return answer.status;
}

uint64_t unwinder__delay_ns(const struct unwinder *unwinder)
{
	return unwinder->helper.pid > 0 ? proc_delay_ns(unwinder->helper.pid) : 0;
}

void unwinder__give_up(struct unwinder *unwinder)
{
	helper_stop(&unwinder->helper, 0);
	end_work(unwinder);
}

int unwinder__poll_fd(const struct unwinder *unwinder)
{
	return unwinder->helper.sock;
}
