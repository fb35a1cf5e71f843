// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pairs THREADS
 *
 * Starts THREADS threads. For each line "pairs DEPTH PATHS ROUNDS" on stdin, each thread calls
 * malloc and free ROUNDS times, DEPTH functions below its start function, in turn through PATHS
 * different call paths. Then prints the mean CPU time of a round, including the calls down to
 * malloc, in nanoseconds.
 *
 * A line "hold DEPTH PATHS ROUNDS" does the same, but without free. A line "replace DEPTH BLOCKS
 * ROUNDS" keeps BLOCKS blocks of 16 to 255 bytes: each round frees a random block and allocates
 * another one. "replace" needs THREADS to be 1.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 64
#define PATHS_MAX 10000
#define BLOCKS_MAX 2000000

struct order {
	int hold;
	int replace;
	long depth;
	long paths;
	long rounds;
};

static struct order order;
static pthread_barrier_t begin, end;
static double times[THREADS_MAX];

static void *blocks[BLOCKS_MAX];

static double now_ns(void)
{
	struct timespec now;

	/* Use the thread's CPU time: it excludes time spent waiting for a CPU. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void replace(void)
{
	static unsigned long long random = 1;
	void **block;

	random = random * 6364136223846793005ULL + 1442695040888963407ULL;
	block = &blocks[(random >> 33) % (unsigned long long)order.paths];
	free(*block);
	*block = malloc(16 + (random >> 20) % 240);
}

static void allocate(void)
{
	void *p;

	if (order.replace) {
		replace();
		return;
	}
	p = malloc(32);

	__asm__ volatile("" : "+r"(p) : : "memory");
	if (!order.hold)
		free(p);
}

/*
 * Placed after each of the ten calls in descend(), with a different n, so that the compiler does
 * not merge the calls.
 */
#define APART(n) __asm__ volatile("" : : "i"(n) : "memory")

/*
 * Calls itself until `depth` is 1. At each level, a decimal digit of `path` selects one of ten
 * calls. `path` has four digits, which are used in turn.
 */
static __attribute__((noipa)) void descend(long path, long depth)
{
	long next = path % 10 * 1000 + path / 10;

	if (depth <= 1) {
		allocate();
		return;
	}
	/* clang-format off */
	switch (path % 10) {
	case 0: descend(next, depth - 1); APART(0); break;
	case 1: descend(next, depth - 1); APART(1); break;
	case 2: descend(next, depth - 1); APART(2); break;
	case 3: descend(next, depth - 1); APART(3); break;
	case 4: descend(next, depth - 1); APART(4); break;
	case 5: descend(next, depth - 1); APART(5); break;
	case 6: descend(next, depth - 1); APART(6); break;
	case 7: descend(next, depth - 1); APART(7); break;
	case 8: descend(next, depth - 1); APART(8); break;
	case 9: descend(next, depth - 1); APART(9); break;
	}
	/* clang-format on */
}

static void *work(void *arg)
{
	double *ns = arg, t0;

	for (;;) {
		pthread_barrier_wait(&begin);
		t0 = now_ns();
		for (long i = 0; i < order.rounds; i++)
			descend(i % (order.replace ? 100 : order.paths), order.depth);
		*ns = (now_ns() - t0) / (double)order.rounds;
		pthread_barrier_wait(&end);
	}
	return NULL;
}

static int start_threads(long cnt)
{
	pthread_t thread;

	if (pthread_barrier_init(&begin, NULL, (unsigned int)cnt + 1) ||
	    pthread_barrier_init(&end, NULL, (unsigned int)cnt + 1))
		return 1;
	for (long i = 0; i < cnt; i++)
		if (pthread_create(&thread, NULL, work, &times[i]))
			return 1;
	return 0;
}

static int read_order(void)
{
	char what[8];

	if (scanf("%7s %ld %ld %ld", what, &order.depth, &order.paths, &order.rounds) != 4)
		return 0;
	order.hold = !strcmp(what, "hold");
	order.replace = !strcmp(what, "replace");
	return order.paths > 0 && order.paths <= (order.replace ? BLOCKS_MAX : PATHS_MAX) &&
	       order.rounds > 0;
}

int main(int argc, char **argv)
{
	long cnt = argc == 2 ? atol(argv[1]) : 0;

	if (cnt < 1 || cnt > THREADS_MAX)
		return 2;
	if (start_threads(cnt))
		return 1;
	while (read_order()) {
		double sum = 0;

		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
		for (long i = 0; i < cnt; i++)
			sum += times[i];
		printf("%.1f\n", sum / (double)cnt);
		fflush(stdout);
	}
	return 0;
}
