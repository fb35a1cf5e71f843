// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * heaps SHAPE BYTES MIB THREADS
 *
 * Makes a heap of MIB MiB in blocks of BYTES bytes. SHAPE says how the blocks point to each other:
 *   list            a linked list in the order of addresses
 *   shuffled-list   a linked list in random order
 *   shuffled-inner  like shuffled-list, but pointers point to the inside of blocks
 *   shuffled-dense  like shuffled-list, but the blocks are full of pointers
 *   shuffled-tree   a binary tree in random order
 *   arenas          blocks without pointers; each thread allocates a part of them in its own arena
 *
 * Starts THREADS threads. With "arenas", they sleep after they have allocated; otherwise they never
 * sleep.
 *
 * For each line on stdin, prints a duration in nanoseconds: for "clone", that of a raw clone() of
 * the process; for "chase", that of following the list to its end.
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define INNER 32

struct node {
	struct node *to[2];
};

static struct node *root;
static size_t inner; /* each pointer to a block points to this offset in the block */

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void shuffle(struct node **nodes, size_t cnt)
{
	uint64_t seed = 1;

	for (size_t i = cnt - 1; i; i--) {
		struct node *node = nodes[i];
		size_t at;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		at = (size_t)((seed >> 33) * (i + 1) >> 31);
		nodes[i] = nodes[at];
		nodes[at] = node;
	}
}

/* Makes the heap. Afterwards, only `root` and the blocks contain pointers to blocks. */
static void make_heap(const char *shape, size_t bytes, size_t mib)
{
	int dense = !strcmp(shape, "shuffled-dense");
	size_t cnt = (mib << 20) / malloc_usable_size(malloc(bytes));
	size_t len = cnt * sizeof(struct node *);
	struct node **nodes =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (nodes == MAP_FAILED)
		exit(1);
	for (size_t i = 0; i < cnt; i++) {
		nodes[i] = malloc(bytes);
		if (!nodes[i])
			exit(1);
		memset(nodes[i], 'x', bytes);
	}
	if (strcmp(shape, "list"))
		shuffle(nodes, cnt);
	for (size_t i = 0; i < cnt; i++) {
		int tree = !strcmp(shape, "shuffled-tree");
		size_t to = tree ? 2 * i + 1 : i + 1;

		nodes[i]->to[0] = to < cnt ? (void *)((char *)nodes[to] + inner) : NULL;
		for (size_t j = 2; dense && j < bytes / sizeof(nodes[0]); j++)
			((struct node **)nodes[i])[j] = nodes[(i + j) % cnt];
		nodes[i]->to[1] = tree && to + 1 < cnt ? nodes[to + 1] : NULL;
	}
	root = (void *)((char *)nodes[0] + inner);
	munmap(nodes, len);
}

static void *spin(void *arg)
{
	(void)arg;
	for (;;)
		sched_yield();
	return NULL;
}

/* bytes that each thread allocates in its arena, and bytes of each block */
static size_t share_bytes, block_bytes;
static pthread_barrier_t barrier;

static void *fill_arena(void *arg)
{
	pthread_barrier_wait(&barrier); /* so that no two threads get the same arena */
	for (size_t done = 0; done < share_bytes; done += block_bytes)
		memset(malloc(block_bytes), 'x', block_bytes);
	pthread_barrier_wait(&barrier);
	pause();
	return arg;
}

static void make_arenas(size_t bytes, size_t mib, long cnt)
{
	pthread_t thread;

	mallopt(M_ARENA_MAX, (int)cnt + 1);
	block_bytes = bytes;
	share_bytes = (mib << 20) / (size_t)cnt;
	pthread_barrier_init(&barrier, NULL, (unsigned int)cnt + 1);
	for (long i = 0; i < cnt; i++)
		if (pthread_create(&thread, NULL, fill_arena, NULL))
			exit(1);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
}

static double clone_ns(void)
{
	double begin = now_ns(), end;
	long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (!child)
		_exit(0);
	end = now_ns();
	if (child < 0 || waitpid((pid_t)child, NULL, 0) < 0)
		exit(1);
	return end - begin;
}

static double chase_ns(void)
{
	double begin = now_ns();

	for (struct node *node = root; node;) {
		node = ((struct node *)((char *)node - inner))->to[0];
		__asm__ volatile("" : : "r"(node) : "memory");
	}
	return now_ns() - begin;
}

int main(int argc, char **argv)
{
	char line[16];
	pthread_t thread;
	size_t bytes, mib;
	long threads;

	if (argc != 5)
		return 2;
	bytes = strtoul(argv[2], NULL, 10);
	mib = strtoul(argv[3], NULL, 10);
	threads = atol(argv[4]);
	inner = strcmp(argv[1], "shuffled-inner") ? 0 : INNER;
	if (strcmp(argv[1], "arenas"))
		make_heap(argv[1], bytes, mib);
	else
		make_arenas(bytes, mib, threads);
	for (long i = 0; strcmp(argv[1], "arenas") && i < threads; i++)
		if (pthread_create(&thread, NULL, spin, NULL))
			return 1;
	while (fgets(line, sizeof(line), stdin)) {
		printf("%.1f\n", strcmp(line, "clone\n") ? chase_ns() : clone_ns());
		fflush(stdout);
	}
	return 0;
}
