// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes pictures by requests to the tracer process. */
#include "proof/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "proof/copy_risks.h"
#include "proof/ended_threads.h"
#include "proof/remote_call.h"
#include "proof/thread_watch.h"
#include "proof/tracer.h"

struct picture_taker {
	/* looks at threads with a BPF program; NULL if the kernel rejects the program */
	struct thread_watch *watch;
	struct tracer *tracer;
	bool is_busy;
	/*
	 * eventfd, signalled when the watched process has stopped at its exit, -1 if none is
	 * watched
	 */
	int end_fd;
	pid_t watched;  /* pid of the process whose end is watched, 0 if there is none */
	bool is_at_end; /* true once picture_taker__note_end() has returned true */
	/*
	 * records the threads of the watched process as they end; NULL after that, or if the
	 * kernel rejects the BPF program
	 */
	struct ended_threads *ended;
};

int picture_taker__new(struct picture_taker **ret)
{
	struct picture_taker *taker = calloc(1, sizeof(*taker));
	int err;

	if (!taker)
		return -ENOMEM;
	taker->end_fd = -1;
	if (thread_watch__new(&taker->watch))
		taker->watch = NULL;
	err = tracer__new(taker->watch, &taker->tracer);
	if (err)
		picture_taker__free(taker);
	else
		*ret = taker;
	return err;
}

void picture_taker__free(struct picture_taker *taker)
{
	if (!taker)
		return;
	tracer__free(taker->tracer);
	thread_watch__free(taker->watch);
	ended_threads__free(taker->ended);
	if (taker->end_fd >= 0)
		close(taker->end_fd);
	free(taker);
}

void picture__release(struct picture *picture)
{
	uint64_t stopped_ns;

	if (!picture->holds_process)
		return;
	picture->holds_process = picture->taker->is_busy = false;
	stopped_ns = tracer__release(picture->taker->tracer);
	if (picture->method == PICTURE_FREEZE)
		picture->stopped_ns = stopped_ns;
}

void picture__free(struct picture *picture)
{
	if (!picture)
		return;
	picture__release(picture);
	if (picture->memory)
		live_memory_deinit(&picture->live);
	thread_states_deinit(&picture->threads);
	live_threads_deinit(&picture->seen);
	free(picture);
}

/* True if the process has a tracer already; the kernel allows only one tracer per thread. */
static bool is_traced(pid_t pid)
{
	cleanup_free char *status = NULL;

	return !proc_read(pid, "status", &status) && proc_status_number(status, "TracerPid") > 0;
}

/* Reads the kernel's memory figures for a process; all 0 if it has no memory any more. */
static struct memory_use memory_use_of(pid_t pid)
{
	static const char *const fields[] = {"RssAnon", "RssFile", "RssShmem", "VmSwap"};
	uint64_t bytes[sizeof(fields) / sizeof(*fields)] = {0};
	cleanup_free char *status = NULL;

	if (proc_read(proc_living_thread(pid), "status", &status))
		return (struct memory_use){0};
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		long kib = proc_status_number(status, fields[i]);

		bytes[i] = kib > 0 ? (uint64_t)kib << 10 : 0;
	}
	return (struct memory_use){bytes[0], bytes[1], bytes[2], bytes[3]};
}

/*
 * Adds the registers of ended threads to those of the thread that is stopped at the exit of the
 * watched process.
 */
static int take_ended(struct picture_taker *taker, struct thread_states *states)
{
	int err = taker->ended ? ended_threads__take(taker->ended, states) : 0;

	ended_threads__free(taker->ended);
	taker->ended = NULL;
	return err;
}

/*
 * Fills a picture from the tracer's answer, and takes ownership of the thread records in the
 * answer.
 */
static int fill(struct picture *picture, struct tracer_answer *answer, uint64_t deadline_ns)
{
	static const enum picture_method methods[] = {
		[TRACER_ALL_ASLEEP] = PICTURE_STILL,
		[TRACER_COPIED] = PICTURE_CLONE,
		[TRACER_STOPPED] = PICTURE_FREEZE,
		[TRACER_ENDED] = PICTURE_ENDED,
	};
	int err;

	if (answer->result >= sizeof(methods) / sizeof(*methods))
		return -EPIPE;
	picture->method = methods[answer->result];
	picture->holds_process = picture->taker->is_busy = picture->method != PICTURE_STILL;
	picture->copy = answer->copy;
	picture->copy_err = answer->copy_err;
	picture->taken_ns = answer->taken_ns;
	picture->stopped_ns = answer->stopped_ns;
	picture->use = memory_use_of(picture->pid);
	picture->seen = answer->seen;
	answer->seen = (struct live_threads){0};
	err = live_threads_add_states(&picture->seen, &picture->threads);
	if (!err && picture->method == PICTURE_ENDED)
		err = take_ended(picture->taker, &picture->threads);
	if (!err)
		err = answer->copy ? live_memory_init_copy(answer->copy, picture->pid, deadline_ns,
							   &picture->live)
				   : live_memory_init(picture->pid, deadline_ns, &picture->live);
	if (!err)
		picture->memory = &picture->live.memory;
	return err;
}

/*
 * True if memory of the process can be opened now. While the process waits in exec, the tracer
 * would wait with it, until the deadline.
 */
static bool is_open(pid_t pid)
{
	cleanup_close int fd = proc_open(pid, "mem", O_RDONLY);

	return fd != -EAGAIN;
}

int picture_taker__take(struct picture_taker *taker, pid_t pid, bool waits_for_runner,
			uint64_t deadline_ns, struct picture **ret)
{
	struct tracer_order order = {
		.pid = pid,
		.waits_for_runner = waits_for_runner,
		.may_copy = copy_has_room(pid),
		.may_end = taker->is_at_end,
		.deadline_ns = deadline_ns,
	};
	struct tracer_answer answer = {0};
	struct picture *picture;
	int err;

	if (pid != taker->watched && is_traced(pid))
		return -EBUSY;
	if (!is_open(pid))
		return -EAGAIN;
	err = remote_call_place(pid, &order.call_at);
	if (err)
		return err;
	picture = calloc(1, sizeof(*picture));
	if (!picture)
		return -ENOMEM;
	picture->taker = taker;
	picture->pid = pid;
	err = tracer__take(taker->tracer, &order, &answer);
	if (!err)
		err = fill(picture, &answer, deadline_ns);
	live_threads_deinit(&answer.seen);
	if (err)
		picture__free(picture);
	else
		*ret = picture;
	return err;
}

bool picture__is_valid(struct picture *picture)
{
	struct picture_taker *taker = picture->taker;
	struct live_threads now = {0};
	bool valid;

	/* Without the BPF program, all threads are stopped, so memory cannot change. */
	if (picture->method == PICTURE_CLONE || picture->method == PICTURE_ENDED || !taker->watch)
		return true;
	valid = !thread_watch__look(taker->watch, picture->pid, false, &now) &&
		live_threads_stayed_idle(&picture->seen, &now);
	live_threads_deinit(&now);
	return valid;
}

bool picture_taker__is_busy(const struct picture_taker *taker)
{
	return taker->is_busy;
}

int picture_taker__watch_end(struct picture_taker *taker, pid_t pid)
{
	int fd, err = ended_threads__new(pid, &taker->ended);
	bool misses_ends = err;

	if (err == -ENOMEM)
		return err;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = fd < 0 ? -errno : tracer__watch_end(taker->tracer, pid, misses_ends, fd);
	if (err) {
		if (fd >= 0)
			close(fd);
		return err;
	}
	taker->end_fd = fd;
	taker->watched = pid;
	return 0;
}

int picture_taker__end_fd(const struct picture_taker *taker)
{
	return taker->end_fd;
}

bool picture_taker__note_end(struct picture_taker *taker)
{
	uint64_t cnt;

	if (read(taker->end_fd, &cnt, sizeof(cnt)) != sizeof(cnt))
		return false;
	taker->is_at_end = true;
	return true;
}
