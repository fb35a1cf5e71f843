// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chase HELD ROUNDS BLOCKS SIZE: allocates HELD blocks of one byte and keeps them until all rounds
 * have ended. In each of ROUNDS rounds, the main thread allocates BLOCKS blocks. Then another
 * thread frees these blocks, while the main thread allocates one more block. After the last round a
 * block of SIZE bytes is allocated and freed. No round begins after 30 s, since rounds take long on
 * a busy machine.
 */
#include <pthread.h>
#include <limits.h>
#include <sched.h>
#include <time.h>

#include "truth.h"

#define BLOCK 5000
#define BLOCKS_MAX 64
#define HELD_MAX 100000
#define PAUSES 512
#define MOST_S 30

static void *held[HELD_MAX], *blocks[BLOCKS_MAX];
static long held_cnt, round_cnt, block_cnt;
/*
 * `begun`: latest round that the main thread has begun. `joined`: latest round that chaser() has
 * noticed. `freed`: latest round whose blocks chaser() has freed.
 */
static long begun, joined, freed;

OWN_FRAME static void *chase_block(size_t size)
{
	return keep(malloc(size));
}

/*
 * Waits until the counter `rounds`, which the other thread increases, reaches `wanted`. Yields now
 * and then: on a single CPU the other thread could not run otherwise.
 */
static void wait_until(const long *rounds, long wanted)
{
	for (int i = 1; __atomic_load_n(rounds, __ATOMIC_ACQUIRE) < wanted; i++)
		if (i % 1000 == 0)
			sched_yield();
}

/*
 * Delays the main thread by a different time in each round, so that the two threads collide at
 * different points.
 */
static void pause_a_little(long round)
{
	for (long i = round * 7 % PAUSES; i; i--)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void *chaser(void *arg)
{
	for (long i = 1; i <= round_cnt; i++) {
		wait_until(&begun, i);
		if (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) == LONG_MAX)
			break;
		__atomic_store_n(&joined, i, __ATOMIC_RELEASE);
		for (long j = 0; j < block_cnt; j++)
			free(blocks[j]);
		__atomic_store_n(&freed, i, __ATOMIC_RELEASE);
	}
	return arg;
}

static void play_round(long i)
{
	void *block;

	for (long j = 0; j < block_cnt; j++)
		blocks[j] = chase_block(BLOCK);
	__atomic_store_n(&begun, i, __ATOMIC_RELEASE);
	wait_until(&joined, i);
	pause_a_little(i);
	block = chase_block(BLOCK);
	wait_until(&freed, i);
	free(block);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	time_t end;

	must(argc == 5, "arguments");
	held_cnt = atol(argv[1]);
	round_cnt = atol(argv[2]);
	block_cnt = atol(argv[3]);
	must(held_cnt <= HELD_MAX && block_cnt <= BLOCKS_MAX, "numbers of blocks");
	must(!pthread_create(&thread, NULL, chaser, NULL), "pthread_create");
	ready();
	for (long i = 0; i < held_cnt; i++)
		held[i] = chase_block(1);
	end = time(NULL) + MOST_S;
	for (long i = 1; i <= round_cnt && time(NULL) < end; i++)
		play_round(i);
	__atomic_store_n(&begun, LONG_MAX, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	for (long i = 0; i < held_cnt; i++)
		free(held[i]);
	free(chase_block(atol(argv[4])));
	ready();
	return 0;
}
