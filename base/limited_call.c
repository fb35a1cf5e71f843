// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs calls in a thread, which is replaced by another one if a call blocks. */
#include "base/limited_call.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/test_knobs.h"

/* Maximum time to wait for a call, in nanoseconds. */
#define WAIT_NS 2000000000ULL
/* Maximum time to wait for a call after WAITS_MAX calls have taken WAIT_NS, in nanoseconds. */
#define SHORT_WAIT_NS 100000000ULL
#define WAITS_MAX 3
/* Time until a call that has taken WAIT_NS no longer counts, in nanoseconds. */
#define FORGIVE_NS 20000000000ULL
/* Maximum number of threads that blocked calls may occupy. */
#define BLOCKED_MAX 64

struct call {
	struct call *next; /* in `requested` or `blocked`, never in both */
	const struct limited_function *function;
	pid_t pid;
	int fd;
	int result;
	bool is_done;
	bool is_given_up;
	alignas(max_align_t) char data[];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t request = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static struct call *requested; /* calls that no thread has begun */
static struct call *blocked;   /* calls that were given up and have not ended */
static unsigned int idle_cnt;  /* threads without a request */
static uint64_t forgiven_ns;   /* time when no call that has taken WAIT_NS counts any longer */
static pid_t owner;            /* process that called limited_calls_begin(); 0 before */

/* Takes the next request, for which this thread was started or woken. */
static struct call *take(void)
{
	struct call *call;

	while (!requested)
		pthread_cond_wait(&request, &mutex);
	call = requested;
	requested = call->next;
	return call;
}

static void free_call(struct call *call)
{
	if (call->fd >= 0)
		close(call->fd);
	free(call);
}

/* Removes a call from a list. Returns false if the call is not in the list. */
static bool remove_call(struct call **list, const struct call *call)
{
	while (*list && *list != call)
		list = &(*list)->next;
	if (!*list)
		return false;
	*list = call->next;
	return true;
}

/* Frees a call that was given up and has ended. */
static void drop(struct call *call)
{
	remove_call(&blocked, call);
	if (call->function->drop)
		call->function->drop(call->result, call->data);
	free_call(call);
}

/* Handles requests. Ends after a call that was given up, since another thread takes its place. */
static void *serve(void *unused)
{
	bool is_replaced = false;

	pthread_mutex_lock(&mutex);
	while (!is_replaced) {
		struct call *call = take();

		pthread_mutex_unlock(&mutex);
		call->result = call->function->run(call->fd, call->data);
		pthread_mutex_lock(&mutex);
		call->is_done = true;
		is_replaced = call->is_given_up;
		if (is_replaced) {
			drop(call);
		} else {
			idle_cnt++;
			pthread_cond_broadcast(&done);
		}
	}
	pthread_mutex_unlock(&mutex);
	return unused;
}

/* Reserves an idle thread, or starts a thread. Returns false if that fails. */
static bool reserve_thread(void)
{
	pthread_t thread;

	if (idle_cnt) {
		idle_cnt--;
		return true;
	}
	if (pthread_create(&thread, NULL, serve, NULL))
		return false;
	pthread_detach(thread);
	return true;
}

/* True if a call for this process blocks, or if too many calls block. */
static bool is_refused(pid_t pid)
{
	unsigned int cnt = 0;

	for (const struct call *call = blocked; call; call = call->next, cnt++)
		if (call->pid == pid)
			return true;
	return cnt >= BLOCKED_MAX;
}

/* Gives up a call. If no thread has begun it, its thread becomes idle, since nothing blocks. */
static void give_up(struct call *call)
{
	if (remove_call(&requested, call)) {
		idle_cnt++;
		free_call(call);
		return;
	}
	call->is_given_up = true;
	call->next = blocked;
	blocked = call;
}

/* Notes that a call has taken waited_ns without ending. */
static void note_wait(uint64_t waited_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), max_ns = now_ns + WAITS_MAX * FORGIVE_NS;

	if (waited_ns < WAIT_NS)
		return;
	forgiven_ns = (forgiven_ns > now_ns ? forgiven_ns : now_ns) + FORGIVE_NS;
	if (forgiven_ns > max_ns)
		forgiven_ns = max_ns;
}

/* Waits for a call, and gives it up if it takes too long. Returns true if it has ended. */
static bool wait_for(struct call *call)
{
	bool is_short = forgiven_ns > clock_deadline_ns((WAITS_MAX - 1) * FORGIVE_NS);
	uint64_t wait_ns = is_short ? SHORT_WAIT_NS : WAIT_NS;
	const struct timespec end = clock_timespec(clock_deadline_ns(patient_ns(wait_ns)));
	int err = 0;

	while (!call->is_done && !err)
		err = pthread_cond_clockwait(&done, &mutex, CLOCK_MONOTONIC, &end);
	if (call->is_done)
		return true;
	note_wait(wait_ns);
	give_up(call);
	return false;
}

/* Makes a call in a thread. Frees `call`, unless the thread still runs it and will free it. */
static int call_in_thread(struct call *call, void *data)
{
	int ret;

	call->next = requested;
	requested = call;
	pthread_cond_signal(&request);
	if (!wait_for(call))
		return -EAGAIN;
	memcpy(data, call->data, call->function->size);
	ret = call->result;
	free_call(call);
	return ret;
}

void limited_calls_begin(void)
{
	owner = getpid();
}

/* Returns a new call with a thread and copies of fd and data; NULL on failure. */
static struct call *new_call(pid_t pid, int fd, const struct limited_function *function,
			     const void *data)
{
	struct call *call = malloc(sizeof(*call) + function->size);

	if (!call)
		return NULL;
	*call = (struct call){.function = function, .pid = pid};
	memcpy(call->data, data, function->size);
	call->fd = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if ((fd < 0 || call->fd >= 0) && reserve_thread())
		return call;
	free_call(call);
	return NULL;
}

/* Without memory, a descriptor or a thread for the call, makes it in this thread. */
int limited_call(pid_t pid, int fd, const struct limited_function *function, void *data)
{
	struct call *call = NULL;
	int ret = 0;

	if (owner == getpid() && pid != owner) {
		pthread_mutex_lock(&mutex);
		ret = is_refused(pid) ? -EAGAIN : 0;
		call = ret ? NULL : new_call(pid, fd, function, data);
		if (call)
			ret = call_in_thread(call, data);
		pthread_mutex_unlock(&mutex);
	}
	return call || ret ? ret : function->run(fd, data);
}
