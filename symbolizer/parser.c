// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests to the helper that parses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/answer.h"
#include "symbolizer/parser.h"

/* Gigabytes of DWARF from a slow disk take seconds. */
#define HANG_MS 10000

static int start(struct parser *parser)
{
	int err = helper_start(&parser->helper, "symbolizer", HELPER_DROPS_RIGHTS, worker_main);

	if (!err)
		parser->incarnation++;
	return err;
}

int parser_init(struct parser *parser)
{
	*parser = (struct parser){.helper = HELPER_INIT, .answer.fd = -1, .hang_ms = HANG_MS};
	return start(parser);
}

/* To end by itself; a sanitizer's leak check takes time. */
#define GRACE_MS (HELPER_SANITIZED ? 5000 : 50)

void parser_deinit(struct parser *parser)
{
	/* One that works on something may take its time: its work is of no use any more. */
	helper_stop(&parser->helper, parser->job.kind == JOB_NONE ? GRACE_MS : 0);
	wire_message_deinit(&parser->answer);
}

/* A file that is not the one that was looked for, or over which the helper ended. */
static void drop_offer(struct module *module)
{
	if (module->debug_fd == module->offered_fd)
		module->debug_fd = -1;
	if (module->alternate_fd == module->offered_fd)
		module->alternate_fd = -1;
	if (module->offered_fd >= 0)
		close(module->offered_fd);
	module->offered_fd = -1;
	free(module->offered_path);
	module->offered_path = NULL;
}

/* Ends what is left of the helper. */
static void stop(struct parser *parser)
{
	parser->job.kind = JOB_NONE;
	helper_stop(&parser->helper, 0);
	wire_message_reset(&parser->answer);
}

/* Nothing like this job is asked again. */
static void give_up(struct parser *parser)
{
	struct job *job = &parser->job;

	switch (job->kind) {
	case JOB_OPEN:
		job->module->max_level = NAME_NONE;
		break;
	case JOB_DEBUG:
		drop_offer(job->module);
		break;
	case JOB_NAMES:
		if (job->module->max_level >= job->level)
			job->module->max_level = job->level - 1;
		break;
	case JOB_NONE:
		break;
	}
	stop(parser);
}

static int accept_offer(struct module *module, enum worker_need kind)
{
	int *kept = kind == NEED_DEBUG ? &module->debug_fd : &module->alternate_fd;

	/* It can be of use once; a helper that wants more is not ours any longer. */
	if (kind == NEED_NOTHING || (*kept >= 0 && *kept != module->offered_fd))
		return -EPROTO;
	/* One that is sent again, to a new helper, brings nothing new. */
	if (*kept < 0) {
		module->generation++;
		*kept = module->offered_fd;
		if (kind == NEED_DEBUG) {
			free(module->debug_path);
			module->debug_path = module->offered_path;
			module->offered_path = NULL;
		}
	}
	free(module->offered_path);
	module->offered_path = NULL;
	module->offered_fd = -1;
	module->candidate = 0;
	module->fetch_tried = false;
	module->fetch_awaited = false;
	return 0;
}

static int take_opened(struct job *job, struct wire_cursor *cursor)
{
	struct module *module = job->module;
	enum worker_need before = module->need.kind;
	struct opened_answer opened;
	int err = answer_read_opened(cursor, &opened);

	if (err)
		return err;
	if (job->kind == JOB_OPEN)
		module->is_elf = !opened.status;
	else if (opened.status)
		drop_offer(module);
	else
		err = accept_offer(module, before);
	if (err) {
		free(opened.build_id);
		file_need_deinit(&opened.need);
		return err;
	}
	if (!module->build_id && opened.build_id)
		module->build_id = strdup(opened.build_id);
	file_need_deinit(&module->need);
	module->need = opened.need;
	free(opened.build_id);
	job->kind = JOB_NONE;
	return 0;
}

static int take_name(struct job *job, struct wire_cursor *cursor)
{
	struct name_answer answer;
	struct name *name;
	int err;

	if (job->answered >= job->cnt)
		return -EPROTO;
	name = job->names[job->answered];
	err = answer_read_name(cursor, job->answered, name->exact, &answer);
	if (err)
		return err;
	err = module__set_frames(job->module, name, answer.frames, answer.frame_cnt);
	if (err) {
		free(answer.frames);
		return err;
	}
	name->vaddr = answer.vaddr;
	name->level = job->level;
	name->generation = job->generation;
	job->answered++;
	return 0;
}

static int take_answer(struct parser *parser)
{
	struct wire_cursor cursor = wire_read(&parser->answer);
	struct job *job = &parser->job;
	uint32_t type = wire_get_u32(&cursor);

	if (type == WORKER_OPENED && (job->kind == JOB_OPEN || job->kind == JOB_DEBUG))
		return take_opened(job, &cursor);
	if (type == WORKER_NAME && job->kind == JOB_NAMES)
		return take_name(job, &cursor);
	if (type == WORKER_NAMES_DONE && job->kind == JOB_NAMES && job->answered == job->cnt) {
		job->kind = JOB_NONE;
		return 0;
	}
	return -EPROTO;
}

/*
 * The helper is gone or of no use any more. It may have been killed by somebody who knew nothing
 * of the module, such as a kernel short of memory: the first time is not counted.
 */
static int lose_helper(struct parser *parser, int err)
{
	struct module *module = parser->job.module;

	if (err == -EPIPE && !module->deaths++) {
		stop(parser);
		return -EAGAIN;
	}
	/* Whatever it was that took the helper over, it is in this module. */
	if (err == -EPROTO)
		module->max_level = NAME_NONE;
	give_up(parser);
	return err == -ENOMEM ? err : -EIO;
}

/* Takes answers until the job is done. */
static int wait_job(struct parser *parser, int64_t deadline_ms)
{
	while (parser->job.kind != JOB_NONE) {
		int err = wire_receive(parser->helper.sock, &parser->answer, deadline_ms);

		if (err == -ETIMEDOUT)
			return err;
		if (!err)
			err = take_answer(parser);
		wire_message_reset(&parser->answer);
		if (err)
			return lose_helper(parser, err);
		parser->job.since_ms = wire_now_ms();
	}
	return 0;
}

/*
 * A large file may take longer than one call has, a hostile one for ever: what has not answered
 * for hang_ms is ended, so that the others come to their turn.
 */
int parser_settle(struct parser *parser, int64_t deadline_ms)
{
	int err;

	do {
		int64_t hope_ms = parser->job.since_ms + parser->hang_ms;

		err = wait_job(parser, hope_ms < deadline_ms ? hope_ms : deadline_ms);
		if (err == -ETIMEDOUT && wire_now_ms() >= parser->job.since_ms + parser->hang_ms) {
			give_up(parser);
			err = 0;
		}
	} while (err == -ETIMEDOUT && wire_now_ms() < deadline_ms);
	return err == -EIO || err == -EAGAIN ? 0 : err;
}

/* Begins a job: the helper is idle and the request small enough never to block for long. */
static int begin(struct parser *parser, struct wire_message *request, enum job_kind kind,
		 struct module *module, int64_t deadline_ms)
{
	int err;

	if (wire_now_ms() >= deadline_ms)
		return -ETIMEDOUT;
	err = wire_send(parser->helper.sock, request, deadline_ms);
	if (err == -EPIPE) {
		/* It ended while it had nothing to do: killed from outside. */
		helper_stop(&parser->helper, 0);
		return -EAGAIN;
	}
	if (err)
		return err;
	if (kind == JOB_OPEN)
		module->incarnation = parser->incarnation;
	parser->job.kind = kind;
	parser->job.module = module;
	parser->job.generation = module->generation;
	parser->job.since_ms = wire_now_ms();
	return wait_job(parser, deadline_ms);
}

static void put_anchors(struct wire_message *request, const struct module *module)
{
	wire_put_u32(request, module->anchor_cnt);
	for (size_t i = 0; i < module->anchor_cnt; i++) {
		wire_put_string(request, module->anchors[i].name);
		wire_put_u64(request, module->anchors[i].addr);
	}
}

int parser_open(struct parser *parser, struct module *module, int64_t deadline_ms)
{
	struct wire_message request = {.fd = module->fd};
	int err = 0;

	if (!parser->helper.pid)
		err = start(parser);
	if (err)
		return -ETIMEDOUT; /* no process, no memory: perhaps the next time */
	wire_put_u32(&request, WORKER_OPEN);
	wire_put_u32(&request, module->id);
	wire_put_string(&request, module->path);
	wire_put_string(&request, module->fd < 0 ? module->build_id : NULL);
	put_anchors(&request, module);
	err = begin(parser, &request, JOB_OPEN, module, deadline_ms);
	request.fd = -1;
	wire_message_deinit(&request);
	return err;
}

int parser_offer(struct parser *parser, struct module *module, int64_t deadline_ms)
{
	struct wire_message request = {.fd = module->offered_fd};
	int err;

	wire_put_u32(&request, WORKER_DEBUG);
	wire_put_u32(&request, module->id);
	err = begin(parser, &request, JOB_DEBUG, module, deadline_ms);
	request.fd = -1;
	wire_message_deinit(&request);
	return err;
}

int parser_ask(struct parser *parser, struct module *module, struct name *const *names, size_t cnt,
	       enum name_level level, int64_t deadline_ms)
{
	struct wire_message request = {.fd = -1};
	struct job *job = &parser->job;
	int err;

	wire_put_u32(&request, WORKER_NAMES);
	wire_put_u32(&request, module->id);
	wire_put_u32(&request, level);
	wire_put_u32(&request, cnt);
	for (size_t i = 0; i < cnt; i++) {
		job->names[i] = names[i];
		wire_put_u64(&request, names[i]->offset);
	}
	job->level = level;
	job->cnt = cnt;
	job->answered = 0;
	err = begin(parser, &request, JOB_NAMES, module, deadline_ms);
	wire_message_deinit(&request);
	return err;
}
