// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: four worker threads, and short-lived threads that are joined.
// expect: nothing
#include <pthread.h>

#include "server.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static char *jobs[64];
static unsigned int waiting;

static void *work(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!waiting)
			pthread_cond_wait(&more, &lock);
		free(jobs[--waiting]);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void *check(void *data)
{
	free(malloc(5000));
	return data;
}

void start_up(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		must(!pthread_create(&thread, NULL, work, NULL), "start a thread");
}

static void submit(unsigned int number)
{
	pthread_mutex_lock(&lock);
	if (waiting < CNT(jobs)) {
		jobs[waiting] = malloc(200);
		snprintf(jobs[waiting++], 200, "job %u", number);
	}
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&lock);
}

void handle_request(unsigned int number)
{
	pthread_t checker;

	submit(number);
	if (number % 10)
		return;
	must(!pthread_create(&checker, NULL, check, NULL), "start a thread");
	pthread_join(checker, NULL);
}
