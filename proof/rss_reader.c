// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens files of /proc for the helper process, which has no permission to open them, and checks the
 * helper's answers.
 */
#include "proof/rss_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "base/write_all.h"
#include "helper/call.h"
#include "proof/rss_server.h"
#include "proof/written_pages.h"

static const struct helper_kind reader_kind = {
	.name = "heap reader",
	.rights = HELPER_DROPS_RIGHTS,
	.work = rss_server_main,
};
HELPER_KIND(reader_kind);

static struct helper reader = HELPER_INIT(&reader_kind);

/* Memory file with the blocks of the reading in progress; -1 if it has none. */
static int blocks_fd = -1;

/* Has the paths of --own; NULL if there are none. */
static const struct options *own;

/*
 * Arguments of the request RSS_SMAPS (rss_server.h): number of the program, and version of Python.
 */
struct program {
	uint64_t number;
	uint32_t python;
};

void rss_use_own(const struct options *opts)
{
	own = opts;
}

static void put_own(struct message *request)
{
	size_t cnt = own ? own->own_cnt : 0;

	message_put_u32(request, (uint32_t)cnt);
	for (size_t i = 0; i < cnt; i++)
		message_put_string(request, own->own[i]);
}

static int send_file(pid_t pid, const char *name, enum rss_request what,
		     const struct program *program, uint64_t deadline_ns)
{
	cleanup_close int fd = proc_open(pid, name, O_RDONLY);
	struct message request = {.fd = fd};
	int err;

	if (fd < 0)
		return fd;
	message_put_u32(&request, what);
	if (what == RSS_SMAPS) {
		message_put_u64(&request, program->number);
		message_put_u32(&request, program->python);
		message_put_u64(&request, written_pages_zero_frame());
		message_put_u64(&request, (uint64_t)sysconf(_SC_PAGESIZE));
		put_own(&request);
	}
	err = helper_send(&reader, &request, deadline_ns);
	message_deinit(&request);
	return err;
}

/* Frees the memory of the blocks that were sent, even if the helper keeps the file open. */
static void drop_blocks(void)
{
	if (blocks_fd < 0)
		return;
	if (ftruncate(blocks_fd, 0))
		helper_stop(&reader, 0);
	close(blocks_fd);
	blocks_fd = -1;
}

static int send_blocks(const struct heap *heap, uint64_t deadline_ns)
{
	struct message request = {.fd = -1};
	int err;

	blocks_fd = request.fd = memfd_create("blocks", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (blocks_fd < 0)
		return -errno;
	err = write_all(blocks_fd, (const char *)heap->blocks,
			heap->block_cnt * sizeof(*heap->blocks));
	if (!err && fcntl(blocks_fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL))
		err = -errno;
	if (err)
		return err;
	message_put_u32(&request, RSS_BLOCKS);
	message_put_u64(&request, heap->block_cnt);
	err = helper_send(&reader, &request, deadline_ns);
	message_deinit(&request);
	return err;
}

static int take_pinners(struct message_cursor *cursor, struct rss_pinners *ret)
{
	ret->cnt = message_get_u32(cursor);
	if (ret->cnt > RSS_PINNERS_MAX)
		return -EPROTO;
	for (size_t i = 0; i < ret->cnt; i++) {
		ret->items[i].site = message_get_u32(cursor);
		ret->items[i].bytes = message_get_u64(cursor);
	}
	return 0;
}

static int take_text(struct message_cursor *cursor, char ret[PYTHON_TEXT_BYTES])
{
	size_t len;
	const char *text = message_get_string(cursor, &len);

	if (!text || len >= PYTHON_TEXT_BYTES)
		return -EPROTO;
	memcpy(ret, text, len);
	ret[len] = '\0';
	return 0;
}

static int take_class(struct message_cursor *cursor, struct python_class *ret)
{
	int err = take_text(cursor, ret->name);

	ret->count = message_get_u64(cursor);
	ret->more = message_get_u64(cursor);
	ret->more_bytes = message_get_u64(cursor);
	ret->for_ns = message_get_u64(cursor);
	if (!err)
		err = take_text(cursor, ret->place.function);
	if (!err)
		err = take_text(cursor, ret->place.file);
	ret->place.line = message_get_u32(cursor);
	return err;
}

static int take_container(struct message_cursor *cursor, struct python_container *ret)
{
	int err;

	ret->named_by = message_get_u32(cursor);
	if (ret->named_by >= PYTHON_NAME_CNT)
		return -EPROTO;
	err = take_text(cursor, ret->name);
	if (!err)
		err = take_text(cursor, ret->class);
	ret->addr = message_get_u64(cursor);
	ret->items = message_get_u64(cursor);
	ret->more = message_get_u64(cursor);
	ret->for_ns = message_get_u64(cursor);
	return err;
}

static int take_python(struct message_cursor *cursor, struct rss_reading *reading)
{
	struct python_growth *ret = &reading->python;
	int err = 0;

	ret->allocator = message_get_u32(cursor);
	if (ret->allocator >= PYTHON_ALLOCATOR_CNT)
		return -EPROTO;
	ret->uncounted = message_get_u64(cursor);
	ret->class_cnt = message_get_u32(cursor);
	if (ret->class_cnt > PYTHON_CLASSES_MAX)
		return -EPROTO;
	for (size_t i = 0; !err && i < ret->class_cnt; i++)
		err = take_class(cursor, &ret->classes[i]);
	ret->container_cnt = message_get_u32(cursor);
	if (ret->container_cnt > PYTHON_CONTAINERS_MAX)
		return -EPROTO;
	for (size_t i = 0; !err && i < ret->container_cnt; i++) {
		err = take_container(cursor, &ret->containers[i]);
		reading->container_sites[i] = message_get_u32(cursor);
	}
	return err;
}

static int take_answer(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	int status = (int)message_get_u32(&cursor);
	struct rss_reading *ret = arg;
	struct rss *rss = &ret->rss;

	rss->arenas = message_get_u64(&cursor);
	rss->torn_arenas = message_get_u64(&cursor);
	rss->skipped_arenas = message_get_u64(&cursor);
	for (unsigned int i = 0; i < RSS_PART_CNT; i++)
		rss->parts[i] = message_get_u64(&cursor);
	rss->huge = message_get_u64(&cursor);
	rss->swapped = message_get_u64(&cursor);
	rss->main_top = message_get_u64(&cursor);
	rss->room = message_get_u64(&cursor);
	rss->allocator = message_get_u32(&cursor);
	rss->has_blocks = message_get_u32(&cursor);
	rss->outside = message_get_u64(&cursor);
	for (size_t i = 0; rss->has_blocks && i < HEAP_CLASSES; i++) {
		rss->older[i].bytes = message_get_u64(&cursor);
		rss->older[i].count = message_get_u64(&cursor);
	}
	rss->pinned_by_older = message_get_u64(&cursor);
	if (take_pinners(&cursor, &ret->pinners) || take_python(&cursor, ret))
		return -EPROTO;
	if (cursor.bad || status > 0 || rss->allocator >= ALLOCATOR_CNT)
		return -EPROTO;
	return status;
}

/*
 * Sends all requests of one reading. copy, heap: as for rss_begin(). program: as in rss_server.h.
 */
static int begin(pid_t pid, pid_t copy, const struct heap *heap, const struct program *program,
		 uint64_t deadline_ns)
{
	int err = copy ? send_file(pid, "smaps", RSS_ORIGINAL_SMAPS, NULL, deadline_ns) : 0;

	pid = copy ?: pid;
	if (!err)
		err = send_file(pid, "mem", RSS_MEM, NULL, deadline_ns);
	if (!err)
		err = send_file(pid, "pagemap", RSS_PAGEMAP, NULL, deadline_ns);
	if (!err && heap)
		err = send_blocks(heap, deadline_ns);
	if (!err)
		err = send_file(pid, "smaps", RSS_SMAPS, program, deadline_ns);
	if (err)
		rss_stop();
	return err;
}

int rss_begin(const struct process_tally *tally, const struct heap *heap, bool counts_objects,
	      pid_t copy, uint64_t deadline_ns)
{
	const struct program program = {
		.number = counts_objects ? 1 + (uint64_t)tally->process->image : 0,
		.python = tally->python,
	};

	return begin(tally->process->pid, copy, heap, &program, deadline_ns);
}

int rss_take(uint64_t deadline_ns, struct rss_reading *ret)
{
	struct rss_reading reading = {.pinners.cnt = 0};
	int err = helper_take_unless_ended(&reader, deadline_ns, take_answer, &reading);

	if (!err)
		*ret = reading;
	else if (err != -ETIMEDOUT)
		rss_stop();
	if (err != -ETIMEDOUT)
		drop_blocks();
	return err;
}

int rss_read(pid_t pid, uint64_t deadline_ns, struct rss *ret)
{
	struct rss_reading reading;
	int err = begin(pid, 0, NULL, &(struct program){.number = 0}, deadline_ns);

	if (!err)
		err = rss_take(deadline_ns, &reading);
	if (err)
		rss_stop();
	else
		*ret = reading.rss;
	return err;
}

void rss_stop(void)
{
	helper_stop(&reader, 0);
	drop_blocks();
}
