// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes each call in a helper thread. If the call blocks, another thread takes over later calls. */
#include "base/limited_call.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "base/test_knobs.h"

/* Maximum time to wait for a call, in nanoseconds. */
#define WAIT_NS 2000000000ULL
/*
 * Maximum time to wait for a call, in nanoseconds, if WAITS_MAX calls have recently been given up
 * after WAIT_NS.
 */
#define SHORT_WAIT_NS 100000000ULL
#define WAITS_MAX 3
/*
 * Time, in nanoseconds, after which a call that was given up after WAIT_NS no longer counts as
 * recent. If there are several such calls, one of them stops counting every FORGIVE_NS.
 */
#define FORGIVE_NS 20000000000ULL
/* Maximum number of threads that blocked calls for one user's processes may occupy. */
#define BLOCKED_MAX_PER_USER 64
/* Maximum number of threads that blocked calls may occupy. */
#define BLOCKED_MAX 256

/* Maximum number of calls that limited_calls_share_waits() makes at the same time. */
#define TOGETHER_MAX 64

struct call {
	/* next call in the list `requested` or `blocked`; a call is never in both */
	struct call *next;
	const struct limited_function *function;
	pid_t pid;
	uid_t uid; /* user of the process */
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
static uint64_t forgiven_ns;   /* time when the last call stops counting towards WAITS_MAX */
static pid_t owner;            /* process that called limited_calls_begin(), or 0 */

/* Waits for a request, and removes it from the list `requested`. */
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

/* Returns false if the call is not in the list. */
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

/*
 * Main function of a helper thread: makes the requested calls. Ends after a call that was given up,
 * since another thread has taken its place.
 */
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

/* Returns the effective user of a process; -1 if there is no such process. */
static uid_t user_of(pid_t pid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) ? (uid_t)-1 : st.st_uid;
}

/* True if a call for this process was given up and still blocks. */
static bool is_blocked(pid_t pid)
{
	const struct call *call = blocked;

	while (call && call->pid != pid)
		call = call->next;
	return call;
}

/* True if the calls that block leave none for the processes of this user. */
static bool is_crowded(uid_t uid)
{
	unsigned int cnt = 0, users_cnt = 0;

	for (const struct call *call = blocked; call; call = call->next, cnt++)
		users_cnt += call->uid == uid;
	return users_cnt >= BLOCKED_MAX_PER_USER || cnt >= BLOCKED_MAX;
}

bool limited_calls_are_blocked(void)
{
	bool ret;

	pthread_mutex_lock(&mutex);
	ret = blocked;
	pthread_mutex_unlock(&mutex);
	return ret;
}

bool limited_calls_are_crowded(pid_t pid)
{
	bool ret;

	pthread_mutex_lock(&mutex);
	ret = !is_blocked(pid) && is_crowded(user_of(pid));
	pthread_mutex_unlock(&mutex);
	return ret;
}

/* Gives up a call. If no thread has begun the call, the thread reserved for it becomes idle. */
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

/* Counts a call that was given up after waited_ns towards WAITS_MAX, if waited_ns is WAIT_NS. */
static void note_wait(uint64_t waited_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), max_ns = now_ns + WAITS_MAX * FORGIVE_NS;

	if (waited_ns < WAIT_NS)
		return;
	forgiven_ns = (forgiven_ns > now_ns ? forgiven_ns : now_ns) + FORGIVE_NS;
	if (forgiven_ns > max_ns)
		forgiven_ns = max_ns;
}

/* Returns true if the call has ended. If it takes too long, gives it up and returns false. */
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

/*
 * Makes a call in the helper thread reserved for it. Returns its result, or -EAGAIN if it was given
 * up. Takes over `call`: a thread that is still in the call frees it later.
 */
static int call_in_thread(struct call *call, void *data)
{
	int ret;

	call->next = requested;
	requested = call;
	pthread_cond_signal(&request);
	if (!wait_for(call))
		return -EAGAIN;
	if (call->function->size)
		memcpy(data, call->data, call->function->size);
	ret = call->result;
	free_call(call);
	return ret;
}

void limited_calls_begin(void)
{
	owner = getpid();
}

/* Copies fd and data into a new call and reserves a helper thread for it. NULL on failure. */
static struct call *new_call(pid_t pid, uid_t uid, int fd, const struct limited_function *function,
			     const void *data)
{
	struct call *call = malloc(sizeof(*call) + function->size);

	if (!call)
		return NULL;
	*call = (struct call){.function = function, .pid = pid, .uid = uid};
	if (function->size)
		memcpy(call->data, data, function->size);
	call->fd = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if ((fd < 0 || call->fd >= 0) && reserve_thread())
		return call;
	free_call(call);
	return NULL;
}

/*
 * Makes the call in the calling thread if `pid` is this process, or if this process has not called
 * limited_calls_begin(). Also does so if it is out of memory, descriptors or threads, unless other
 * calls block: they may be the reason, and this one might block, too.
 */
int limited_call(pid_t pid, int fd, const struct limited_function *function, void *data)
{
	struct call *call = NULL;
	int ret = 0;

	if (owner == getpid() && pid != owner) {
		uid_t uid = user_of(pid);

		pthread_mutex_lock(&mutex);
		if (!is_blocked(pid) && !is_crowded(uid))
			call = new_call(pid, uid, fd, function, data);
		if (call)
			ret = call_in_thread(call, data);
		else if (blocked)
			ret = -EAGAIN;
		pthread_mutex_unlock(&mutex);
	}
	return call || ret ? ret : function->run(fd, data);
}

/* Calls that wait together. */
struct shared_wait {
	const struct limited_function *function;
	const pid_t *pids;
	size_t cnt;
	atomic_size_t begun_cnt;
};

static void call_next(void *arg, size_t worker)
{
	struct shared_wait *wait = arg;
	size_t i;

	(void)worker;
	while ((i = wait->begun_cnt++) < wait->cnt) {
		pid_t pid = wait->pids[i];

		limited_call(pid, -1, wait->function, &pid);
	}
}

void limited_calls_share_waits(const pid_t *pids, size_t cnt,
			       const struct limited_function *function)
{
	struct shared_wait wait = {.function = function, .pids = pids, .cnt = cnt};

	parallel_run(cnt < TOGETHER_MAX ? cnt : TOGETHER_MAX, call_next, &wait);
}
