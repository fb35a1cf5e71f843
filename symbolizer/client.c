// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends requests to the helper that parses files, and records which modules made it crash. */
#include "symbolizer/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fair_lock.h"
#include "base/log.h"
#include "base/signals.h"
#include "symbolizer/answer.h"
#include "symbolizer/server/server.h"

/*
 * Maximum time without an answer, in nanoseconds. Reading gigabytes of DWARF from a slow disk takes
 * seconds.
 */
#define HANG_NS (10 * 1000000000ULL)

/* Maximum time, in nanoseconds, to send the helper a file for which it waits. */
#define SEND_NS 1000000000ULL

#define FILES_EACH 8

static const struct helper_kind helper_kind = {
	.name = "symbolizer",
	.rights = HELPER_DROPS_RIGHTS,
	.work = symbolizer_server_main,
};
HELPER_KIND(helper_kind);

int client_init(struct client *client)
{
	*client = (struct client){
		.helper = HELPER_INIT(&helper_kind),
		.hang_ns = HANG_NS,
	};
	return helper_start(&client->helper);
}

void client_deinit(struct client *client)
{
	/* Kill a busy helper immediately, since its result is no longer needed. */
	helper_deinit(&client->helper, client->job.kind == JOB_NONE ? HELPER_GRACE_MS : 0);
	memory_files_deinit(&client->memory);
}

/* Ends the helper, and frees the memory of its files. */
static void stop_helper(struct client *client, unsigned int grace_ms)
{
	helper_stop(&client->helper, grace_ms);
	memory_files_deinit(&client->memory);
}

/* Closes the offered debug file, which is not the needed one or made the helper crash or hang. */
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

/* Logs, once per module, why the module's debug information is not used. */
static void note_unused(struct module *module, const char *why)
{
	if (!module->unused_noted)
		log_note("%s: debug information is not used: %s",
			 module->debug_path ? module->debug_path : module->path, why);
	module->unused_noted = true;
}

static int note_unreadable(struct module *module, uint32_t why)
{
	static const char *const words[UNREADABLE_CNT] = {
		[UNREADABLE_COMPRESSION] = "unknown compression",
		[UNREADABLE_LARGE] = "too large when unpacked",
		[UNREADABLE_DAMAGED] = "the compressed data is damaged",
		[UNREADABLE] = "elfutils cannot read it",
	};

	if (why >= UNREADABLE_CNT)
		return -EPROTO;
	if (why)
		note_unused(module, words[why]);
	return 0;
}

/*
 * Ends the helper and gives up its job. So that the job is not repeated, closes the offered debug
 * file, or lowers the module's max_level.
 */
static void give_up(struct client *client)
{
	struct job *job = &client->job;

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
		if (job->level == NAME_FULL)
			note_unused(job->module, "the process reading it crashed or hung");
		break;
	case JOB_NONE:
		break;
	}
	job->kind = JOB_NONE;
	stop_helper(client, 0);
}

static int accept_offer(struct module *module, enum server_need kind)
{
	int *kept = kind == NEED_DEBUG ? &module->debug_fd : &module->alternate_fd;

	/*
	 * Accept at most one debug file and one alternate file per module. A helper that asks for
	 * more is compromised.
	 */
	if (kind == NEED_NOTHING || (*kept >= 0 && *kept != module->offered_fd))
		return -EPROTO;
	/* Count a debug file when it is first accepted, not when it is sent to a new helper. */
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

static int take_opened(struct job *job, struct message_cursor *cursor)
{
	struct module *module = job->module;
	enum server_need before = module->need.kind;
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

static int take_name(struct job *job, struct message_cursor *cursor)
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

static int take_done(struct job *job, struct message_cursor *cursor)
{
	uint32_t unreadable = message_get_u32(cursor);

	if (cursor->bad || cursor->at != cursor->end || job->answered != job->cnt)
		return -EPROTO;
	job->kind = JOB_NONE;
	return note_unreadable(job->module, unreadable);
}

/* Sends a memory file to the helper, which waits for it; no file if it would be too large. */
static int give_memory(struct client *client, struct message_cursor *cursor)
{
	uint64_t bytes = message_get_u64(cursor);
	struct message msg = {.fd = -1};
	int err;

	/* Limit the number of requests: with each one, the helper counts as alive. */
	if (cursor->bad || cursor->at != cursor->end || client->job.asked++ == MEMORY_FILES_EACH)
		return -EPROTO;
	msg.fd = memory_files_make(&client->memory, client->job.module->id, bytes);
	message_put_u32(&msg, SERVER_MEMORY);
	err = message_send(client->helper.sock, &msg, clock_deadline_ns(SEND_NS));
	msg.fd = -1; /* client->memory owns it. */
	message_deinit(&msg);
	return err == -ETIMEDOUT ? -EPROTO : err;
}

static int take_answer(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	uint32_t type = message_get_u32(&cursor);
	struct client *client = arg;
	struct job *job = &client->job;

	if (type == SERVER_MEMORY && job->kind == JOB_NAMES && !job->answered)
		return give_memory(client, &cursor);
	if (type == SERVER_OPENED && (job->kind == JOB_OPEN || job->kind == JOB_DEBUG))
		return take_opened(job, &cursor);
	if (type == SERVER_NAME && job->kind == JOB_NAMES)
		return take_name(job, &cursor);
	if (type == SERVER_NAMES_DONE && job->kind == JOB_NAMES)
		return take_done(job, &cursor);
	return -EPROTO;
}

/*
 * Handles a helper that ended, sent an invalid answer or could not be read. Returns -EAGAIN if a
 * helper ended for the first time while working on this module: the caller may repeat the job,
 * since the cause may be, for example, the OOM killer. Otherwise returns -EIO or -ENOMEM.
 */
static int lose_helper(struct client *client, int err)
{
	struct module *module = client->job.module;

	memory_files_deinit(&client->memory);
	if (err == -EPIPE && !module->deaths++) {
		client->job.kind = JOB_NONE;
		return -EAGAIN;
	}
	/* Stop using this module: it made the helper send invalid answers. */
	if (err == -EPROTO)
		module->max_level = NAME_NONE;
	give_up(client);
	return err == -ENOMEM ? err : -EIO;
}

bool client_is_interrupted(void)
{
	return fair_lock_is_interrupted() || signals_end_pending();
}

void client_report_progress(const struct client *client, const char *path, int percent)
{
	if (client->on_progress)
		client->on_progress(path, percent);
}

static void report_job(const struct client *client)
{
	const struct job *job = &client->job;
	size_t named = client->named + (job->kind == JOB_NAMES ? job->answered : 0);

	client_report_progress(client, job->module->path,
			       client->wanted ? (int)(100 * named / client->wanted) : 0);
}

/*
 * Handles answers until the job is done, and calls the progress callback from time to time. Returns
 * as described in client.h.
 */
static int wait_job(struct client *client, uint64_t deadline_ns)
{
	uint64_t progress_ns = clock_deadline_ns(CLIENT_PROGRESS_NS);

	while (client->job.kind != JOB_NONE) {
		uint64_t until_ns = progress_ns < deadline_ns ? progress_ns : deadline_ns;
		int err = helper_take(&client->helper, until_ns, take_answer, client);

		if (!clock_left_ms(progress_ns)) {
			report_job(client);
			progress_ns = clock_deadline_ns(CLIENT_PROGRESS_NS);
			if (err == -ETIMEDOUT && clock_left_ms(deadline_ns) &&
			    !client_is_interrupted())
				continue;
		}
		if (err == -ETIMEDOUT)
			return err;
		if (err)
			return lose_helper(client, err);
		client->job.since_ns = clock_ns(CLOCK_MONOTONIC);
	}
	return 0;
}

/*
 * Kills a helper that has sent no answer for hang_ns, perhaps over several calls: a large file may
 * take longer than one call may wait, but a hostile file must not block other files forever.
 */
int client_wait(struct client *client, uint64_t deadline_ns)
{
	int err;

	do {
		uint64_t hope_ns = client->job.since_ns + client->hang_ns;

		err = wait_job(client, hope_ns < deadline_ns ? hope_ns : deadline_ns);
		if (err == -ETIMEDOUT && !clock_left_ms(client->job.since_ns + client->hang_ns)) {
			give_up(client);
			err = 0;
		}
	} while (err == -ETIMEDOUT && clock_left_ms(deadline_ns) && !client_is_interrupted());
	return err == -EIO || err == -EAGAIN ? 0 : err;
}

/*
 * Sends a request and waits until its job is done. Sending does not block for long: the helper is
 * idle and the request is small.
 */
static int begin(struct client *client, struct message *request, enum job_kind kind,
		 struct module *module, uint64_t deadline_ns)
{
	int err = clock_left_ms(deadline_ns) ? helper_send(&client->helper, request, deadline_ns)
					     : -ETIMEDOUT;

	request->fd = -1;
	message_deinit(request);
	/* -EPIPE: somebody killed the helper while it was idle. */
	if (err == -EPIPE) {
		memory_files_deinit(&client->memory);
		return -EAGAIN;
	}
	if (err)
		return err;
	if (kind == JOB_OPEN)
		module->incarnation = client->helper.incarnation;
	client->job.kind = kind;
	client->job.asked = 0;
	client->job.module = module;
	client->job.generation = module->generation;
	client->job.since_ns = clock_ns(CLOCK_MONOTONIC);
	return wait_job(client, deadline_ns);
}

static void put_anchors(struct message *request, const struct module *module)
{
	message_put_u32(request, module->anchor_cnt);
	for (size_t i = 0; i < module->anchor_cnt; i++) {
		message_put_string(request, module->anchors[i].name);
		message_put_u64(request, module->anchors[i].addr);
	}
}

/*
 * Returns the maximum number of modules that a helper may open: it opens several files per module,
 * and its descriptors are limited.
 */
static size_t most_opened(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) ? SIZE_MAX : limit.rlim_max / FILES_EACH + 1;
}

int client_open(struct client *client, struct module *module, uint64_t deadline_ns)
{
	struct message request = {.fd = module->fd};

	/*
	 * The helper keeps a module's files open until client_close(). Start a new helper if too
	 * many are open.
	 */
	if (client->opened >= most_opened()) {
		stop_helper(client, HELPER_GRACE_MS);
		client->opened = 0;
	}
	client->opened++;
	if (helper_start(&client->helper))
		return -ETIMEDOUT; /* out of memory or of processes: let the caller retry later */
	message_put_u32(&request, SERVER_OPEN);
	message_put_u32(&request, module->id);
	message_put_string(&request, module->path);
	message_put_string(&request, module->fd < 0 ? module->build_id : NULL);
	put_anchors(&request, module);
	return begin(client, &request, JOB_OPEN, module, deadline_ns);
}

bool client_close(struct client *client, struct module *module)
{
	struct message request = {.fd = -1};
	int err;

	if (client->job.kind != JOB_NONE)
		return false;
	if (!client->helper.pid || module->incarnation != client->helper.incarnation)
		return true;
	message_put_u32(&request, SERVER_CLOSE);
	message_put_u32(&request, module->id);
	err = helper_send(&client->helper, &request, 0);
	message_deinit(&request);
	if (!err)
		client->opened--;
	memory_files_drop(&client->memory, module->id);
	return err != -ETIMEDOUT;
}

int client_offer(struct client *client, struct module *module, uint64_t deadline_ns)
{
	struct message request = {.fd = module->offered_fd};

	message_put_u32(&request, SERVER_DEBUG);
	message_put_u32(&request, module->id);
	return begin(client, &request, JOB_DEBUG, module, deadline_ns);
}

int client_ask(struct client *client, struct module *module, struct name *const *names, size_t cnt,
	       enum name_level level, uint64_t deadline_ns)
{
	struct message request = {.fd = -1};
	struct job *job = &client->job;

	message_put_u32(&request, SERVER_NAMES);
	message_put_u32(&request, module->id);
	message_put_u32(&request, level);
	message_put_u32(&request, cnt);
	for (size_t i = 0; i < cnt; i++) {
		job->names[i] = names[i];
		message_put_u32(&request, names[i]->kind);
		message_put_u64(&request, names[i]->offset);
		message_put_u64(&request, names[i]->anchor);
	}
	job->level = level;
	job->cnt = cnt;
	job->answered = 0;
	return begin(client, &request, JOB_NAMES, module, deadline_ns);
}
