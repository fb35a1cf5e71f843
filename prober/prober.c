// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends requests to the helper processes, and checks their answers. */
#include "prober/prober.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/regular_file.h"
#include "helper/call.h"
#include "prober/code_ranges.h"
#include "prober/server/protocol.h"
#include "prober/server/server.h"
#include "prober/trust_domain.h"

/* Maximum length of the disassembly of an instruction. Disassemblers write shorter texts. */
#define INSN_TEXT_MAX 200

static const struct helper_kind prober_kind = {
	.name = "prober",
	.rights = HELPER_DROPS_RIGHTS,
	.work = prober_server_main,
};
HELPER_KIND(prober_kind);

/*
 * A second helper process, which reads the memory of traced processes. Such a read may block
 * forever; it must not delay the first helper's requests about files.
 */
static const struct helper_kind reader_kind = {
	.name = "memory reader",
	.rights = HELPER_DROPS_RIGHTS,
	.work = prober_server_main,
};
HELPER_KIND(reader_kind);

static struct helper helper = HELPER_INIT(&prober_kind);
static struct helper reader = HELPER_INIT(&reader_kind);

/*
 * Interval, in nanoseconds, at which wait_answer() checks whether the memory reader is still
 * waiting for a processor.
 */
#define STARVED_NS 50000000ULL

/*
 * Maximum time, in milliseconds, to wait after a termination signal for the answer to a request
 * about an interpreter or a script, or from a runnable helper. Without the answer, the final report
 * has no lines of scripts, or counts the process of the file as lost.
 */
#define LAST_WAIT_MS (PROBER_WAIT_MS / 2)

struct question {
	struct helper *helper;
	int fd;
	void (*put)(const struct question *question, struct message *request);
	helper_take_fn take;
	uint16_t machine;
	const struct wanted_functions *wanted;
	const char *name;
	uint64_t addr;
	size_t len;
	uint32_t version;
	const struct memleak_script_frame *frame;
	/* later deadline, used while the memory reader is runnable but waits for a processor */
	uint64_t latest_ns;
	/* true if the final report needs the answer: wait for it even after a termination signal */
	bool is_needed_at_end;
	struct code_ranges code; /* file offsets in the answer must be in it */
	/* The remaining fields are set from the answer. */
	int status;
	uint64_t value;
	struct file_functions functions;
	void *bytes;
	char *near;
	struct interpreter interpreter;
	struct script_place place;
};

/* After a termination signal, continues to wait for an answer, but at most for LAST_WAIT_MS. */
static int wait_at_end(struct question *question, uint64_t deadline_ns)
{
	uint64_t last_ns = clock_deadline_ns(LAST_WAIT_MS * 1000000ULL);

	return helper_take(question->helper, last_ns < deadline_ns ? last_ns : deadline_ns,
			   question->take, question);
}

/*
 * Waits for an answer. Ends the helper if none arrives in time or before a termination signal. If
 * the helper is runnable at the signal, or the memory reader at the deadline, waits longer: on a
 * busy machine, the helper may be waiting for a processor, not for a disk or for memory.
 */
static int wait_answer(struct question *question, uint64_t deadline_ns)
{
	int err = helper_take_unless_ended(question->helper, deadline_ns, question->take, question);

	while (err == -ETIMEDOUT && question->helper == &reader &&
	       clock_left_ms(question->latest_ns) && helper_is_runnable(question->helper))
		err = helper_take_unless_ended(question->helper, clock_deadline_ns(STARVED_NS),
					       question->take, question);
	if (err == -EINTR && (question->is_needed_at_end || helper_is_runnable(question->helper)))
		err = wait_at_end(question, deadline_ns);
	if (err == -ETIMEDOUT || err == -EINTR)
		helper_stop(question->helper, 0);
	return err;
}

static int ask_once(struct question *question, uint64_t deadline_ns)
{
	struct message request = {.fd = question->fd};
	int err;

	question->put(question, &request);
	err = helper_send(question->helper, &request, deadline_ns);
	message_deinit(&request);
	return err ? err : wait_answer(question, deadline_ns);
}

/*
 * Ends the helper if its last request was about a file that other users can change. That file may
 * have taken over the helper, which could then have probes placed in the middle of instructions of
 * the next file, and thereby change the code of all processes that map it.
 */
static void leave_domain(const struct question *question, const struct stat *st)
{
	static struct trust_domain domains[2];
	struct trust_domain *last = &domains[question->helper == &reader];
	struct trust_domain wanted = trust_domain_of(question->fd, st);

	if (!trust_domain_equal(last, &wanted))
		helper_stop(question->helper, 0);
	*last = wanted;
}

static int ask(struct question *question, uint64_t deadline_ns)
{
	struct stat st;
	int err;

	question->latest_ns = clock_deadline_ns(PROBER_WAIT_MS * 1000000ULL);
	err = file_stat(question->fd, &st);
	if (err)
		return err;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	leave_domain(question, &st);
	if (deadline_ns > question->latest_ns)
		deadline_ns = question->latest_ns;
	err = ask_once(question, deadline_ns);
	/* The helper has ended. Retry once, since the reason may be unrelated to this file. */
	if (err == -EPIPE)
		err = ask_once(question, deadline_ns);
	return err == -EPIPE ? -EIO : err;
}

static void put_functions(const struct question *question, struct message *request)
{
	const struct wanted_functions *wanted = question->wanted;

	message_put_u32(request, PROBER_FUNCTIONS);
	message_put_u32(request, question->machine);
	message_put_u32(request, wanted->scope);
	message_put_u32(request, wanted->through);
	message_put_u32(request, wanted->at_entry);
	message_put_u32(request, (uint32_t)wanted->cnt);
	for (size_t i = 0; i < wanted->cnt; i++) {
		message_put_string(request, wanted->items[i].name);
		message_put_u32(request, wanted->items[i].argument_cnt);
		message_put_u32(request, wanted->items[i].everywhere);
		message_put_u32(request, wanted->items[i].followed);
	}
}

static bool is_name(const struct question *question, size_t name)
{
	return name < question->wanted->cnt && question->wanted->items[name].name;
}

/*
 * Parses the disassembly of an instruction. Rejects texts that are too long or not printable, since
 * users see them.
 */
static int get_insn(struct message_cursor *cursor, char **ret)
{
	size_t len;
	const char *text = message_get_string(cursor, &len);

	if (!text)
		return 0;
	if (len > INSN_TEXT_MAX)
		return -EPROTO;
	for (size_t i = 0; i < len; i++)
		if (!isprint((unsigned char)text[i]))
			return -EPROTO;
	*ret = strndup(text, len);
	return *ret ? 0 : -ENOMEM;
}

static int get_returns(const struct question *question, struct message_cursor *cursor,
		       struct found_function *function)
{
	size_t cnt = message_get_u32(cursor);

	if (cnt > FUNCTION_RETURNS_MAX || (cnt && function->verdict != FUNCTION_RETURNS))
		return -EPROTO;
	function->returns = calloc(cnt + 1, sizeof(*function->returns));
	if (!function->returns)
		return -ENOMEM;
	function->return_cnt = cnt;
	for (size_t i = 0; i < cnt; i++) {
		function->returns[i] = message_get_u64(cursor);
		if (!code_ranges_have(&question->code, function->returns[i]))
			return -EPROTO;
	}
	return 0;
}

/*
 * True if the function and its probed instruction are in the file's code: the kernel also sets
 * probes in constant data, and thereby changes it. Does not check that an instruction begins there:
 * that needs symbols and a disassembler, which must not run with memleak's rights on hostile files.
 * But the users who control the helper can change this file anyway: see leave_domain().
 */
static bool is_in_code(const struct question *question, const struct found_function *function)
{
	return function->place.offset < FUNCTION_BYTES_MAX &&
	       code_ranges_have(&question->code, function->offset) &&
	       code_ranges_have(&question->code, function->offset + function->place.offset);
}

static int get_function(const struct question *question, struct message_cursor *cursor,
			struct found_function *ret)
{
	int err;

	ret->name = message_get_u32(cursor);
	ret->offset = message_get_u64(cursor);
	ret->exported = message_get_u32(cursor);
	ret->place.offset = message_get_u64(cursor);
	ret->place.emulated = message_get_u32(cursor);
	err = get_insn(cursor, &ret->place.insn);
	if (err)
		return err;
	ret->verdict = message_get_u32(cursor);
	ret->through = message_get_u32(cursor);
	ret->jumps_there = message_get_u32(cursor);
	if (!is_name(question, ret->name) || !is_in_code(question, ret) ||
	    ret->verdict > FUNCTION_UNKNOWN ||
	    (ret->verdict == FUNCTION_THROUGH && !is_name(question, ret->through)))
		return -EPROTO;
	err = get_returns(question, cursor, ret);
	return cursor->bad ? -EPROTO : err;
}

static int get_functions(const struct question *question, struct message_cursor *cursor,
			 struct file_functions *ret)
{
	size_t cnt = message_get_u32(cursor), probe_cnt = 0;
	int err = 0;

	if (cursor->bad || cnt > FILE_PROBES_MAX)
		return -EPROTO;
	ret->items = calloc(cnt + 1, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	while (!err && ret->cnt < cnt) {
		struct found_function *function = &ret->items[ret->cnt++];

		err = get_function(question, cursor, function);
		probe_cnt += 1 + function->return_cnt;
	}
	return !err && probe_cnt > FILE_PROBES_MAX ? -EPROTO : err;
}

static int take_functions(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	uint32_t status = message_get_u32(&cursor);
	struct question *question = arg;
	struct file_functions functions = {.surplus_cnt = message_get_u64(&cursor)};
	int err;

	functions.indirect = message_get_u32(&cursor);
	if (cursor.bad || status > 4095 || functions.indirect > question->wanted->cnt)
		return -EPROTO;
	question->status = -(int)status;
	if (status)
		return 0;
	/* This does not wait for a disk: the helper has just read the file. */
	code_ranges_read(question->fd, &question->code);
	err = get_functions(question, &cursor, &functions);
	if (err)
		file_functions_deinit(&functions);
	else
		question->functions = functions;
	/* Return 0 if memleak itself is out of memory: an error would end the helper. */
	question->status = err;
	return err == -ENOMEM ? 0 : err;
}

int prober_functions(int fd, uint16_t machine, const struct wanted_functions *wanted,
		     uint64_t deadline_ns, struct file_functions *ret)
{
	struct question question = {
		.helper = &helper,
		.fd = fd,
		.put = put_functions,
		.take = take_functions,
		.machine = machine,
		.wanted = wanted,
	};
	int err = ask(&question, deadline_ns);

	if (!err)
		err = question.status;
	if (!err)
		*ret = question.functions;
	return err;
}

static void put_variable(const struct question *question, struct message *request)
{
	message_put_u32(request, PROBER_VARIABLE);
	message_put_string(request, question->name);
}

static int take_variable(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	struct question *question = arg;

	question->status = message_get_u32(&cursor) != 0;
	question->value = message_get_u64(&cursor);
	return cursor.bad ? -EPROTO : 0;
}

bool prober_variable(int fd, const char *name, uint64_t deadline_ns, uint64_t *ret)
{
	struct question question = {.helper = &helper,
				    .fd = fd,
				    .put = put_variable,
				    .take = take_variable,
				    .name = name};

	if (ask(&question, deadline_ns) || !question.status)
		return false;
	*ret = question.value;
	return true;
}

static void put_section(const struct question *question, struct message *request)
{
	message_put_u32(request, PROBER_SECTION);
	message_put_string(request, question->name);
}

static int take_section(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	struct question *question = arg;

	question->status = message_get_u32(&cursor) != 0;
	return cursor.bad ? -EPROTO : 0;
}

bool prober_has_section(int fd, const char *name)
{
	struct question question = {.helper = &helper,
				    .fd = fd,
				    .put = put_section,
				    .take = take_section,
				    .name = name};

	return !ask(&question, MESSAGE_FOREVER) && question.status;
}

static void put_nearest(const struct question *question, struct message *request)
{
	message_put_u32(request, PROBER_NEAREST);
	message_put_string(request, question->name);
}

static bool is_printable(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)text[i]))
			return false;
	return true;
}

static int take_nearest(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	struct question *question = arg;
	const char *text;
	size_t len;

	text = message_get_string(&cursor, &len);
	if (!text || cursor.bad)
		return -EPROTO;
	if (len && is_printable(text, len))
		question->near = strndup(text, len);
	return 0;
}

char *prober_nearest(int fd, struct nearest *nearest, uint64_t deadline_ns)
{
	cleanup_free char *name = strndup(nearest->word, nearest->len);
	struct question question = {.helper = &helper,
				    .fd = fd,
				    .put = put_nearest,
				    .take = take_nearest,
				    .name = name};

	if (!name || ask(&question, deadline_ns) || !question.near)
		return NULL;
	if (nearest_is(nearest, question.near))
		return question.near;
	free(question.near);
	return NULL;
}

static void put_memory(const struct question *question, struct message *request)
{
	message_put_u32(request, PROBER_MEMORY);
	message_put_u64(request, question->addr);
	message_put_u32(request, (uint32_t)question->len);
}

static int take_memory(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	struct question *question = arg;
	const void *bytes;

	question->status = message_get_u32(&cursor) ? 0 : -EFAULT;
	bytes = message_get_bytes(&cursor, question->len);
	if (!bytes || cursor.bad)
		return -EPROTO;
	memcpy(question->bytes, bytes, question->len);
	return 0;
}

int prober_memory(int mem_fd, uint64_t addr, void *buf, size_t len, uint64_t deadline_ns)
{
	struct question question = {
		.helper = &reader,
		.fd = mem_fd,
		.put = put_memory,
		.take = take_memory,
		.addr = addr,
		.len = len,
		.bytes = buf,
	};
	int err = ask(&question, deadline_ns);

	return err ? err : question.status;
}

static void put_interpreter(const struct question *question, struct message *request)
{
	message_put_u32(request, PROBER_INTERPRETER);
}

/* Parses a status (0 or a positive errno) and stores it as question->status (0 or negative). */
static int take_status(struct message_cursor *cursor, struct question *question)
{
	uint32_t status = message_get_u32(cursor);

	question->status = -(int)status;
	return status > 4095 ? -EPROTO : 0;
}

/*
 * Refuses a function that frees code objects outside the file's code, because it will be probed:
 * see is_in_code().
 */
static int take_interpreter(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	struct question *question = arg;
	struct interpreter *found = &question->interpreter;
	int err = take_status(&cursor, question);

	found->version = message_get_u32(&cursor);
	found->is_free_threaded = message_get_u32(&cursor);
	found->runtime = message_get_u64(&cursor);
	found->free_code = message_get_u64(&cursor);
	for (size_t i = 0; i < LOOP_PARTS; i++) {
		found->loop[i].start = message_get_u64(&cursor);
		found->loop[i].end = message_get_u64(&cursor);
	}
	code_ranges_read(question->fd, &question->code);
	if (found->free_code && !code_ranges_have(&question->code, found->free_code))
		return -EPROTO;
	return cursor.bad ? -EPROTO : err;
}

int prober_interpreter(int fd, uint64_t deadline_ns, struct interpreter *ret)
{
	struct question question = {
		.helper = &helper,
		.fd = fd,
		.put = put_interpreter,
		.take = take_interpreter,
		.is_needed_at_end = true,
	};
	int err = ask(&question, deadline_ns);

	if (!err)
		err = question.status;
	if (!err)
		*ret = question.interpreter;
	return err;
}

static void put_script(const struct question *question, struct message *request)
{
	message_put_u32(request, PROBER_SCRIPT);
	message_put_u32(request, question->version);
	message_put_u64(request, MEMLEAK_SCRIPT_CODE(question->frame));
	message_put_u32(request, question->frame->instr);
	message_put_u32(request, question->frame->cookie);
}

static char *get_text(struct message_cursor *cursor)
{
	size_t len;
	const char *text = message_get_string(cursor, &len);

	return text ? strndup(text, len) : NULL;
}

static int take_script(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	struct question *question = arg;
	struct script_place *place = &question->place;
	int err = take_status(&cursor, question);

	place->name = get_text(&cursor);
	place->path = get_text(&cursor);
	place->line = message_get_u32(&cursor);
	if (!err && !question->status && (cursor.bad || !place->name || !place->path))
		err = -EPROTO;
	return err;
}

int prober_script(int mem_fd, uint32_t version, const struct memleak_script_frame *frame,
		  uint64_t deadline_ns, struct script_place *ret)
{
	struct question question = {
		.helper = &reader,
		.fd = mem_fd,
		.put = put_script,
		.take = take_script,
		.version = version,
		.frame = frame,
		.is_needed_at_end = true,
	};
	int err = ask(&question, deadline_ns);

	if (!err)
		err = question.status;
	if (!err) {
		*ret = question.place;
		return 0;
	}
	free(question.place.name);
	free(question.place.path);
	return err;
}

void prober_end(void)
{
	helper_deinit(&helper, HELPER_GRACE_MS);
	helper_deinit(&reader, HELPER_GRACE_MS);
}
