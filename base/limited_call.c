// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs calls in a thread, which is replaced by another one if a call blocks. */
#include "base/limited_call.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/test_knobs.h"

/* Maximum time to wait for a call, in nanoseconds, and the maximum while other calls block. */
#define WAIT_NS 2000000000ULL
#define WAIT_AGAIN_NS 100000000ULL
/* Maximum number of threads that blocked calls may occupy. */
#define BLOCKED_MAX 64

struct call {
	struct call *next;    /* in `requested` */
	struct call *another; /* in `blocked` */
	void (*run)(void *arg);
	void (*drop)(void *arg);
	void *arg;
	pid_t pid;
	bool is_done;
	bool is_abandoned;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t request = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static struct call *requested; /* calls that no thread has begun */
static struct call *blocked;   /* abandoned calls that have not ended */
static unsigned int idle_cnt;  /* threads without a request */
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

/* Frees a call that was abandoned and has ended. */
static void drop(struct call *call)
{
	struct call **link = &blocked;

	while (*link != call)
		link = &(*link)->another;
	*link = call->another;
	call->drop(call->arg);
	free(call);
}

/* Handles requests. Ends after an abandoned call, since another thread has taken its place. */
static void *serve(void *unused)
{
	bool is_replaced = false;

	pthread_mutex_lock(&mutex);
	while (!is_replaced) {
		struct call *call = take();

		pthread_mutex_unlock(&mutex);
		call->run(call->arg);
		pthread_mutex_lock(&mutex);
		call->is_done = true;
		is_replaced = call->is_abandoned;
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

	for (const struct call *call = blocked; call; call = call->another, cnt++)
		if (call->pid == pid)
			return true;
	return cnt >= BLOCKED_MAX;
}

/* Waits for a call, and abandons it if it takes too long. Returns true if it has ended. */
static bool wait_for(struct call *call)
{
	const struct timespec end =
		clock_timespec(clock_deadline_ns(patient_ns(blocked ? WAIT_AGAIN_NS : WAIT_NS)));
	int err = 0;

	while (!call->is_done && !err)
		err = pthread_cond_clockwait(&done, &mutex, CLOCK_MONOTONIC, &end);
	if (call->is_done)
		return true;
	call->is_abandoned = true;
	call->another = blocked;
	blocked = call;
	return false;
}

/* Makes a call in a thread, which then frees `call` if it was abandoned. */
static bool call_in_thread(struct call *call)
{
	call->next = requested;
	requested = call;
	pthread_cond_signal(&request);
	if (!wait_for(call))
		return false;
	free(call);
	return true;
}

void limited_calls_begin(void)
{
	owner = getpid();
}

/* Returns a new call, with a thread reserved for it; NULL on failure. */
static struct call *new_call(const struct call *from)
{
	struct call *call = malloc(sizeof(*call));

	if (call && !reserve_thread()) {
		free(call);
		call = NULL;
	}
	if (call)
		*call = *from;
	return call;
}

int limited_call(pid_t pid, void (*run)(void *arg), void (*drop_arg)(void *arg), void *arg)
{
	const struct call from = {.run = run, .drop = drop_arg, .arg = arg, .pid = pid};
	struct call *call = NULL;
	int err = 0;

	if (owner == getpid() && pid != owner) {
		pthread_mutex_lock(&mutex);
		err = is_refused(pid) ? -EBUSY : 0;
		call = err ? NULL : new_call(&from);
		if (call && !call_in_thread(call))
			err = -ETIMEDOUT;
		pthread_mutex_unlock(&mutex);
	}
	if (err == -EBUSY)
		drop_arg(arg);
	else if (!call)
		run(arg);
	return err;
}
