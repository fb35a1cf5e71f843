// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the lock with tickets. The owner of the lock can release it during poll(). */
#include "base/fair_lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* Maximum time, in milliseconds, until fair_lock_poll() notices a call of fair_lock_interrupt(). */
#define SLICE_MS 50

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
/* taken: number of tickets handed out so far; served: ticket whose thread may own the lock */
static uint64_t taken, served;
static atomic_bool interrupted;
static _Thread_local bool shares;

void fair_lock_acquire(void)
{
	uint64_t own;

	pthread_mutex_lock(&mutex);
	own = taken++;
	while (own != served)
		pthread_cond_wait(&released, &mutex);
	pthread_mutex_unlock(&mutex);
}

void fair_lock_release(void)
{
	pthread_mutex_lock(&mutex);
	served++;
	pthread_cond_broadcast(&released);
	pthread_mutex_unlock(&mutex);
}

void fair_lock_begin_sharing(void)
{
	shares = true;
}

void fair_lock_end_sharing(void)
{
	shares = false;
}

int fair_lock_poll(struct pollfd *fd, int timeout_ms)
{
	int cnt = poll(fd, 1, shares ? 0 : timeout_ms);

	if (cnt || !shares)
		return cnt;
	fair_lock_release();
	do {
		int slice_ms = timeout_ms < 0 || timeout_ms > SLICE_MS ? SLICE_MS : timeout_ms;

		cnt = poll(fd, 1, slice_ms);
		if (timeout_ms > 0)
			timeout_ms -= slice_ms;
	} while (!cnt && timeout_ms && !interrupted);
	fair_lock_acquire();
	return cnt;
}

void fair_lock_interrupt(bool interrupt)
{
	interrupted = interrupt;
}

bool fair_lock_is_interrupted(void)
{
	return shares && interrupted;
}
