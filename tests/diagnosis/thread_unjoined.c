// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: stacks of threads that have ended and are neither joined nor detached.
// expect: start_job
#include <pthread.h>

#include "server.h"

unsigned int requests_per_s = 20;

static void *run_job(void *job)
{
	free(job);
	return NULL;
}

static bool start_job(void)
{
	void *job = malloc(100);
	pthread_t thread;

	return !pthread_create(&thread, NULL, run_job, job); // LEAK
}

void handle_request(unsigned int number)
{
	if (number % 2 == 0)
		must(start_job(), "start a thread");
}
