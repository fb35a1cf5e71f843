// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads [BLOCKS]: eight threads allocate BLOCKS blocks each (default: 100,000) at the same time;
 * then each frees half of its neighbour's blocks. The threads exist before memleak is attached and
 * end before the last phase.
 */
#include <pthread.h>

#include "truth.h"

#define THREADS 8
#define MOST 100000

static void *blocks[THREADS][MOST];
static int block_cnt = MOST;
static pthread_barrier_t barrier;

/*
 * The size of a block depends on its thread and its number, so that sums are wrong if two threads
 * are confused.
 */
static size_t size_of(int thread, int i)
{
	return 16 + 8 * thread + i % 5;
}

OWN_FRAME static void *thread_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

static void *worker(void *arg)
{
	int self = (int)(intptr_t)arg, other = (self + 1) % THREADS;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < block_cnt; i++)
		blocks[self][i] = thread_alloc(size_of(self, i));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < block_cnt; i += 2)
		free(blocks[other][i]);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void say_leaks(int first, int step)
{
	size_t count = 0, bytes = 0;

	for (int thread = 0; thread < THREADS; thread++)
		for (int i = first; i < block_cnt; i += step) {
			count++;
			bytes += size_of(thread, i);
		}
	leaks("thread_alloc", count, bytes);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc > 1)
		block_cnt = atoi(argv[1]);
	must(block_cnt > 0 && block_cnt <= MOST, "number of blocks");
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		must(pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i) == 0,
		     "pthread_create");
	ready();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	say_leaks(0, 1);
	ready();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	say_leaks(1, 2);
	ready();
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say_leaks(1, 2);
	ready();
	return 0;
}
