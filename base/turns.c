// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the lock by tickets. A thread that owns it can release it while it waits in poll(). */
#include "base/turns.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* Maximum time, in milliseconds, until a waiting thread notices a call of turn_hurry(). */
#define SLICE_MS 50

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
/* number of tickets taken, and number of the ticket that owns the lock */
static uint64_t asked, served;
static atomic_bool hurried;
static _Thread_local bool shares;

void turn_take(void)
{
	uint64_t own;

	pthread_mutex_lock(&mutex);
	own = asked++;
	while (own != served)
		pthread_cond_wait(&turned, &mutex);
	pthread_mutex_unlock(&mutex);
}

void turn_give(void)
{
	pthread_mutex_lock(&mutex);
	served++;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&mutex);
}

void turn_share(void)
{
	shares = true;
}

void turn_forget(void)
{
	shares = false;
}

int turn_poll(struct pollfd *fd, int timeout_ms)
{
	int cnt = poll(fd, 1, shares ? 0 : timeout_ms);

	if (cnt || !shares)
		return cnt;
	turn_give();
	do {
		int slice_ms = timeout_ms < 0 || timeout_ms > SLICE_MS ? SLICE_MS : timeout_ms;

		cnt = poll(fd, 1, slice_ms);
		if (timeout_ms > 0)
			timeout_ms -= slice_ms;
	} while (!cnt && timeout_ms && !hurried);
	turn_take();
	return cnt;
}

void turn_hurry(bool hurry)
{
	hurried = hurry;
}

bool turn_is_hurried(void)
{
	return shares && hurried;
}
