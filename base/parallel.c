// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts threads, and joins them when the work is done. */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#define PROCESSORS_MAX 16
#define WORKERS_MAX 64

struct worker {
	void (*work)(void *arg, size_t worker);
	void *arg;
	size_t number;
	pthread_t thread;
	bool started;
};

size_t parallel_worker_cnt(void)
{
	cpu_set_t cpus;
	int cnt = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

	return cnt < 1 ? 1 : cnt > PROCESSORS_MAX ? PROCESSORS_MAX : (size_t)cnt;
}

static void *run(void *arg)
{
	const struct worker *worker = arg;

	worker->work(worker->arg, worker->number);
	return NULL;
}

void parallel_run(size_t worker_cnt, void (*work)(void *arg, size_t worker), void *arg)
{
	struct worker workers[WORKERS_MAX];

	if (worker_cnt > WORKERS_MAX)
		worker_cnt = WORKERS_MAX;
	for (size_t i = 1; i < worker_cnt; i++) {
		workers[i] = (struct worker){.work = work, .arg = arg, .number = i};
		workers[i].started = !pthread_create(&workers[i].thread, NULL, run, &workers[i]);
	}
	work(arg, 0);
	for (size_t i = 1; i < worker_cnt; i++) {
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
		else
			work(arg, i);
	}
}
