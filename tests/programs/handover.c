// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * handover PAIRS SLOTS: four threads share an array of SLOTS pointers to blocks. Each thread
 * repeats PAIRS times: it allocates a block, stores the pointer to this block in a random element
 * of the array, and frees the block to which the element pointed before. Another thread may have
 * allocated the freed block.
 */
#include <pthread.h>

#include "truth.h"

#define THREADS 4
#define SLOTS_MAX 100000

static size_t *slots[SLOTS_MAX]; /* each block begins with its size */
static long pair_cnt, slot_cnt;
static pthread_barrier_t barrier;

OWN_FRAME static size_t *handover_block(size_t size)
{
	size_t *p = keep(malloc(size)); /* LEAK */

	*p = size;
	return p;
}

static void *worker(void *arg)
{
	uint64_t random = 88172645463325252ULL + (uintptr_t)arg;

	pthread_barrier_wait(&barrier);
	for (long i = 0; i < pair_cnt; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		free(__atomic_exchange_n(&slots[random % slot_cnt],
					 handover_block(16 + random / slot_cnt % 200),
					 __ATOMIC_ACQ_REL));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	size_t count = 0, bytes = 0;

	must(argc == 3, "arguments");
	pair_cnt = atol(argv[1]);
	slot_cnt = atol(argv[2]);
	must(slot_cnt > 0 && slot_cnt <= SLOTS_MAX, "number of slots");
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		must(pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i) == 0,
		     "pthread_create");
	ready();
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (long i = 0; i < slot_cnt; i++) {
		count += slots[i] != NULL;
		bytes += slots[i] ? *slots[i] : 0;
	}
	leaks("handover_block", count, bytes);
	ready();
	for (long i = 0; i < slot_cnt; i++)
		free(slots[i]);
	ready();
	return 0;
}
