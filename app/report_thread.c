// SPDX-License-Identifier: GPL-2.0-or-later
/* A thread that works when it is told to, and tells when it has. */
#include "app/report_thread.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/turns.h"

static void tell(int fd)
{
	const uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void wait_for(int fd)
{
	uint64_t cnt;

	while (read(fd, &cnt, sizeof(cnt)) < 0 && errno == EINTR)
		;
}

static void *run(void *arg)
{
	struct report_thread *thread = arg;

	for (;;) {
		wait_for(thread->begin_fd);
		turn_take();
		turn_share();
		if (!thread->end)
			thread->err = thread->work(thread->arg);
		turn_give();
		if (thread->end)
			return NULL;
		tell(thread->done_fd);
	}
}

int report_thread_start(struct report_thread *ret, int (*work)(void *arg), void *arg)
{
	int err;

	*ret = (struct report_thread){
		.work = work,
		.arg = arg,
		.begin_fd = eventfd(0, EFD_CLOEXEC),
		.done_fd = eventfd(0, EFD_CLOEXEC),
	};
	err = ret->begin_fd < 0 || ret->done_fd < 0 ? -errno : 0;
	turn_take();
	if (!err)
		err = -pthread_create(&ret->thread, NULL, run, ret);
	ret->runs = !err;
	return err;
}

void report_thread_begin(struct report_thread *thread)
{
	thread->busy = true;
	tell(thread->begin_fd);
}

int report_thread_finish(struct report_thread *thread)
{
	wait_for(thread->done_fd);
	thread->busy = false;
	return thread->err;
}

int report_thread_hurry(struct report_thread *thread)
{
	int err;

	turn_hurry(true);
	turn_give();
	err = report_thread_finish(thread);
	turn_take();
	turn_hurry(false);
	return err;
}

void report_thread_stop(struct report_thread *thread)
{
	if (thread->busy)
		report_thread_hurry(thread);
	thread->end = true;
	if (thread->runs) {
		tell(thread->begin_fd);
		turn_give();
		pthread_join(thread->thread, NULL);
		turn_take();
	}
	turn_give();
	if (thread->begin_fd >= 0)
		close(thread->begin_fd);
	if (thread->done_fd >= 0)
		close(thread->done_fd);
	thread->runs = false;
}
