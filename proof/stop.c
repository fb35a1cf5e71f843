// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks at all threads and stops those that run, again and again until no thread runs. */
#include "proof/stop.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "proof/traced_threads.h"

/* Time after which a thread that has not stopped is assumed to be in an uninterruptible sleep. */
#define SOON_NS 10000000ULL

/*
 * STOP_ALL_NS: maximum time to stop all threads, including the wait for threads that are ending.
 * ROUND_NS: pause between two looks at all threads meanwhile.
 */
#define STOP_ALL_NS 2000000000ULL
#define ROUND_NS 50000

/*
 * WANTED_NS: maximum time to wait for a running thread. PAUSE_NS: pause between two looks at all
 * threads meanwhile.
 */
#define WANTED_NS 250000000ULL
#define PAUSE_NS 1000000

static int look(struct stop *stop, bool with_vectors, struct live_threads *ret)
{
	if (stop->watch)
		return thread_watch__look(stop->watch, stop->pid, with_vectors, ret);
	return traced_threads_look(stop->pid, &stop->stopped, with_vectors, ret);
}

static bool is_stopped(const struct stop *stop, pid_t tid)
{
	const struct stopped_thread *stopped = stopped_threads_find(&stop->stopped, tid);

	return stopped && stopped->stopped;
}

/*
 * True if the thread runs now, or has run since `before`, an earlier look at all threads (NULL if
 * there was none), even if it sleeps again now.
 */
static bool has_run(const struct live_threads *before, const struct memleak_thread_record *now)
{
	const struct memleak_thread_record *was =
		before ? live_threads_find(before, (pid_t)now->tid) : now;

	return !live_thread_is_idle(now) || !was || was->switches != now->switches;
}

/*
 * Stops the threads that run now, or have run since `before`, an earlier look at all threads, or
 * NULL. *ret: true if there were such threads.
 */
static int stop_runners(struct stop *stop, const struct live_threads *before,
			const struct live_threads *now, bool *ret)
{
	int err = 0;

	*ret = false;
	for (size_t i = 0; !err && i < now->cnt; i++) {
		const struct memleak_thread_record *thread = now->items[i];

		if (live_thread_is_worker(thread) || is_stopped(stop, (pid_t)thread->tid) ||
		    !has_run(before, thread))
			continue;
		*ret = true;
		err = stopped_threads_add(&stop->stopped, (pid_t)thread->tid);
	}
	return err;
}

static void pause_ns(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* Waits at most WANTED_NS for a thread to run, and stops it. */
static int stop_next_runner(struct stop *stop, uint64_t deadline_ns)
{
	uint64_t until_ns = clock_deadline_ns(WANTED_NS);
	struct live_threads before = {0}, now;
	bool found = false;
	int err = look(stop, false, &before);

	if (until_ns > deadline_ns)
		until_ns = deadline_ns;
	while (!err && !found && clock_ns(CLOCK_MONOTONIC) < until_ns) {
		pause_ns(PAUSE_NS);
		err = look(stop, false, &now);
		if (err)
			break;
		err = stop_runners(stop, &before, &now, &found);
		live_threads_deinit(&before);
		before = now;
	}
	live_threads_deinit(&before);
	return err;
}

/* Stops running threads until all threads are stopped or asleep. Records all threads in `seen`. */
static int stop_all(struct stop *stop, uint64_t deadline_ns)
{
	uint64_t until_ns = clock_deadline_ns(STOP_ALL_NS);

	if (until_ns > deadline_ns)
		until_ns = deadline_ns;
	for (;;) {
		bool some;
		int err;

		stopped_threads_wait(&stop->stopped, clock_deadline_ns(SOON_NS));
		live_threads_deinit(&stop->seen);
		err = look(stop, true, &stop->seen);
		if (!err)
			err = stop_runners(stop, NULL, &stop->seen, &some);
		if (err || !some)
			return err;
		if (clock_ns(CLOCK_MONOTONIC) >= until_ns)
			return -EAGAIN;
		pause_ns(ROUND_NS);
	}
}

int stop_begin(struct thread_watch *watch, pid_t pid, bool wants_one, uint64_t deadline_ns,
	       struct stop *ret)
{
	struct stop stop = {.watch = watch, .pid = pid};
	int err = stop_all(&stop, deadline_ns);

	if (!err && wants_one && !stop.stopped.cnt) {
		err = stop_next_runner(&stop, deadline_ns);
		if (!err)
			err = stop_all(&stop, deadline_ns);
	}
	/*
	 * No cleanup is needed here: the caller calls stop_end() and stop_deinit() even after a
	 * failure.
	 */
	*ret = stop;
	return err;
}

/* True if no thread came or went, and no sleeping thread has run. */
static bool stayed_idle(const struct stop *stop, const struct live_threads *now)
{
	if (stop->seen.cnt != now->cnt)
		return false;
	for (size_t i = 0; i < now->cnt; i++) {
		const struct memleak_thread_record *was = stop->seen.items[i], *is = now->items[i];

		if (was->tid != is->tid)
			return false;
		if (!is_stopped(stop, (pid_t)is->tid) && !live_thread_is_worker(is) &&
		    has_run(&stop->seen, is))
			return false;
	}
	return true;
}

int stop_confirm(struct stop *stop, uint64_t deadline_ns)
{
	struct live_threads now;
	bool some;
	int err = look(stop, false, &now);

	if (err)
		return err;
	if (!stayed_idle(stop, &now)) {
		err = stop_runners(stop, &stop->seen, &now, &some);
		if (!err)
			err = stop_all(stop, deadline_ns);
		if (!err)
			err = -EAGAIN;
	}
	live_threads_deinit(&now);
	return err;
}

int stop_renew(struct stop *stop, uint64_t deadline_ns)
{
	return stop_all(stop, deadline_ns);
}

const struct stopped_thread *stop_next_thread(const struct stop *stop,
					      const struct stopped_thread *last)
{
	const struct stopped_thread *end = stop->stopped.items + stop->stopped.cnt;

	for (last = last ? last + 1 : stop->stopped.items; last < end; last++)
		if (last->stopped)
			return last;
	return NULL;
}

bool stop_end(struct stop *stop)
{
	return stopped_threads_resume(&stop->stopped, &stop->seen);
}

void stop_deinit(struct stop *stop)
{
	stopped_threads_deinit(&stop->stopped);
	live_threads_deinit(&stop->seen);
}
