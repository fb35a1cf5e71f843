// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts the tracer and sends requests to it. */
#include "proof/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "helper/message.h"
#include "proof/arch.h"
#include "proof/tracer_process.h"

/*
 * Nanoseconds to wait for a reply beyond the deadline of the request: the tracer may have to finish
 * a stop first.
 */
#define GRACE_NS 5000000000ULL

/* Maximum wait for the end of the tracer, and interval between checks for it. */
#define LEAVE_NS 2000000000ULL
#define LEAVE_US 1000

struct tracer {
	struct thread_watch *watch;
	pid_t pid; /* pid of the tracer, 0 if it does not run */
	int sock;  /* socket to the tracer, -1 if closed */
};

static int start(struct tracer *tracer)
{
	int socks[2];

	if (tracer->sock >= 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks))
		return -errno;
	tracer->pid = fork();
	if (!tracer->pid)
		tracer_process_run(socks[1], tracer->watch);
	close(socks[1]);
	if (tracer->pid < 0) {
		close(socks[0]);
		tracer->pid = 0;
		return -errno;
	}
	tracer->sock = socks[0];
	return 0;
}

/*
 * Closes the connection, so that the tracer restores everything and ends. to_wait: true to wait for
 * its end, but at most LEAVE_NS: a thread that waits for a file system may never stop.
 */
static void leave(struct tracer *tracer, bool to_wait)
{
	uint64_t until_ns = to_wait ? clock_deadline_ns(LEAVE_NS) : 0;

	if (tracer->sock < 0)
		return;
	/*
	 * close() alone may not end the connection: other processes that memleak has forked may
	 * have the socket open, too.
	 */
	shutdown(tracer->sock, SHUT_RDWR);
	close(tracer->sock);
	tracer->sock = -1;
	while (!waitpid(tracer->pid, NULL, WNOHANG) && clock_ns(CLOCK_MONOTONIC) < until_ns)
		usleep(LEAVE_US);
	tracer->pid = 0;
}

int tracer__new(struct thread_watch *watch, struct tracer **ret)
{
	struct tracer *tracer;
	int err;

	if (!watch && !registers_keep_argument)
		return -EOPNOTSUPP;
	tracer = calloc(1, sizeof(*tracer));
	if (!tracer)
		return -ENOMEM;
	tracer->watch = watch;
	tracer->sock = -1;
	err = start(tracer);
	if (err)
		tracer__free(tracer);
	else
		*ret = tracer;
	return err;
}

void tracer__free(struct tracer *tracer)
{
	if (!tracer)
		return;
	leave(tracer, true);
	free(tracer);
}

pid_t tracer__pid(const struct tracer *tracer)
{
	return tracer->pid;
}

/* Sends a request, frees it, and receives the reply. */
static int ask(struct tracer *tracer, struct message *request, uint64_t deadline_ns,
	       struct message *reply)
{
	int err = start(tracer);

	if (!err)
		err = message_send(tracer->sock, request, deadline_ns);
	message_deinit(request);
	if (!err)
		err = message_receive(tracer->sock, reply, deadline_ns);
	/* Close the connection: a late reply would be taken for the reply to the next request. */
	if (err && err != -ENOMEM) {
		leave(tracer, false);
		err = -EPIPE;
	}
	return err;
}

static int read_records(int fd, struct live_threads *ret)
{
	struct live_threads threads = {0};
	ssize_t got;
	int err = 0;

	do {
		err = array_reserve(&threads.store, &threads.store_cap,
				    threads.store_len + (64 << 10));
		if (err)
			break;
		got = pread(fd, threads.store + threads.store_len, 64 << 10,
			    (off_t)threads.store_len);
		if (got > 0)
			threads.store_len += (size_t)got;
		err = got < 0 && errno != EINTR ? -errno : 0;
	} while (!err && got);
	if (!err)
		err = live_threads_index(&threads);
	if (err)
		live_threads_deinit(&threads);
	else
		*ret = threads;
	return err;
}

static int read_answer(const struct message *reply, struct tracer_answer *ret)
{
	struct message_cursor cursor = message_read(reply);
	int err = (int)message_get_u32(&cursor);
	struct tracer_answer answer = {
		.result = message_get_u32(&cursor),
		.copy = (pid_t)message_get_u32(&cursor),
		.copy_err = (int)message_get_u32(&cursor),
		.taken_ns = message_get_u64(&cursor),
		.stopped_ns = message_get_u64(&cursor),
	};

	if (cursor.bad || (!err && reply->fd < 0))
		return -EPIPE;
	if (!err)
		err = read_records(reply->fd, &answer.seen);
	if (!err)
		*ret = answer;
	return err;
}

static int take(struct tracer *tracer, const struct tracer_order *order, struct tracer_answer *ret)
{
	struct message request = {.fd = -1}, reply = {.fd = -1};
	int err;

	message_put_u32(&request, TRACER_TAKE);
	message_put_u32(&request, (uint32_t)order->pid);
	message_put_u32(&request, order->waits_for_runner);
	message_put_u32(&request, order->may_copy);
	message_put_u32(&request, order->may_end);
	message_put_u64(&request, order->call_at);
	message_put_u64(&request, order->deadline_ns);
	err = ask(tracer, &request, order->deadline_ns + GRACE_NS, &reply);
	if (!err)
		err = read_answer(&reply, ret);
	message_reset(&reply);
	message_deinit(&reply);
	return err;
}

int tracer__take(struct tracer *tracer, const struct tracer_order *order, struct tracer_answer *ret)
{
	int err = take(tracer, order, ret);

	/* The tracer may be busy with threads of the last picture: start a new one. */
	return err == -EPIPE && clock_left_ms(order->deadline_ns) ? take(tracer, order, ret) : err;
}

uint64_t tracer__release(struct tracer *tracer)
{
	struct message request = {.fd = -1}, reply = {.fd = -1};
	struct message_cursor cursor;
	uint64_t stopped_ns;

	if (tracer->sock < 0)
		return 0;
	message_put_u32(&request, TRACER_RELEASE);
	ask(tracer, &request, clock_deadline_ns(GRACE_NS), &reply);
	cursor = message_read(&reply);
	stopped_ns = message_get_u64(&cursor);
	message_deinit(&reply);
	return stopped_ns;
}

int tracer__watch_end(struct tracer *tracer, pid_t pid, bool notes_threads, int fd)
{
	/* The message owns its descriptor, so send a duplicate. */
	struct message request = {.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)}, reply = {.fd = -1};
	struct message_cursor cursor;
	int err;

	if (request.fd < 0)
		return -errno;
	message_put_u32(&request, TRACER_WATCH_END);
	message_put_u32(&request, (uint32_t)pid);
	message_put_u32(&request, notes_threads);
	err = ask(tracer, &request, clock_deadline_ns(GRACE_NS), &reply);
	cursor = message_read(&reply);
	if (!err)
		err = (int)message_get_u32(&cursor);
	if (!err && cursor.bad)
		err = -EPROTO;
	message_deinit(&reply);
	return err;
}
