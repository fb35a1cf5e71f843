// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements a thread that does work on request, and signals when it is done. */
#include "app/report_thread.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fair_lock.h"

static void raise_event(int fd)
{
	const uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void wait_for_event(int fd)
{
	uint64_t cnt;

	while (read(fd, &cnt, sizeof(cnt)) < 0 && errno == EINTR)
		;
}

static void *run(void *arg)
{
	struct report_thread *thread = arg;
	bool ends;

	do {
		wait_for_event(thread->begin_fd);
		fair_lock_acquire();
		fair_lock_begin_sharing();
		ends = !thread->work;
		if (!ends)
			thread->err = thread->work(thread->arg);
		fair_lock_release();
		raise_event(thread->done_fd);
	} while (!ends);
	return NULL;
}

static void close_fds(const struct report_thread *thread)
{
	if (thread->begin_fd >= 0)
		close(thread->begin_fd);
	if (thread->done_fd >= 0)
		close(thread->done_fd);
}

int report_thread_start(struct report_thread *ret)
{
	int err;

	*ret = (struct report_thread){
		.begin_fd = eventfd(0, EFD_CLOEXEC),
		.done_fd = eventfd(0, EFD_CLOEXEC),
	};
	err = ret->begin_fd < 0 || ret->done_fd < 0 ? -errno : 0;
	if (!err)
		err = -pthread_create(&ret->thread, NULL, run, ret);
	ret->runs = !err;
	if (err)
		close_fds(ret);
	else
		fair_lock_acquire();
	return err;
}

void report_thread_begin(struct report_thread *thread, int (*work)(void *arg), void *arg)
{
	thread->work = work;
	thread->arg = arg;
	thread->busy = true;
	raise_event(thread->begin_fd);
}

int report_thread_finish(struct report_thread *thread)
{
	wait_for_event(thread->done_fd);
	thread->busy = false;
	return thread->err;
}

int report_thread_finish_now(struct report_thread *thread)
{
	int err;

	fair_lock_interrupt(true);
	fair_lock_release();
	err = report_thread_finish(thread);
	fair_lock_acquire();
	fair_lock_interrupt(false);
	return err;
}

void report_thread_stop(struct report_thread *thread)
{
	if (!thread->runs)
		return;
	report_thread_begin(thread, NULL, NULL);
	fair_lock_release();
	pthread_join(thread->thread, NULL);
	close_fds(thread);
	thread->runs = false;
}
