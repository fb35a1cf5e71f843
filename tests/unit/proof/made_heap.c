// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocates, frees and records random blocks in several threads. Fills them with data that
 * resembles the allocator's own: addresses, sizes, lists.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/unit/proof/made_heap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS_MAX 64
#define SLOTS (1 << 16)
#define FREED_MAX (1 << 22)
#define FILLED_MAX 1024 /* maximum number of filled words in a block */

/* glibc's own functions: a sanitizer may replace malloc(). */
void *__libc_malloc(size_t size);
void __libc_free(void *block);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);

static struct made_heap_order {
	long seed, steps, threads, exits, slots, sbrk, huge, small, drop, wall, endless, remap;
} order = {.seed = 1, .steps = 20000, .slots = 3000};

static struct made_block slots[SLOTS];
static struct made_block *freed;
static size_t freed_cnt;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begin, done;
static __thread uint64_t state;
static __thread struct made_block *mine = slots; /* records of the blocks of this thread */
static __thread long mine_cnt;
static void *(*get_aligned)(size_t align, size_t size);

static uint64_t rnd(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static size_t random_size(void)
{
	uint64_t kind = rnd() % 64;

	if (order.small || kind < 32)
		return rnd() % 200 + 1;
	if (kind < 52)
		return rnd() % 1100 + 1;
	if (kind < 60)
		return rnd() % 9000 + 1;
	if (kind < 63 || !order.huge)
		return rnd() % 100000 + 1;
	return rnd() % 3000000 + 1;
}

/* Fills a block with words that resemble chunk headers and lists. */
static void fill(uint64_t *words, size_t cnt)
{
	uint64_t kind = rnd() % 5;

	for (size_t i = 0; i < cnt; i++) {
		const struct made_block *other = &slots[rnd() % (uint64_t)order.slots];

		if (kind == 0)
			words[i] = 0;
		else if (kind == 1)
			words[i] = other->addr;
		else if (kind == 2)
			words[i] = i % 2 ? (rnd() % 64) * 16 + 1 : other->addr - 16;
		else if (kind == 3)
			words[i] = (uint64_t)words;
		else
			words[i] = rnd();
	}
}

/* Marks the record of a block as unreliable while the block changes. */
static void begin_change(struct made_block *slot)
{
	__atomic_store_n(&slot->is_used, MADE_BLOCK_CHANGING, __ATOMIC_SEQ_CST);
}

static void end_change(struct made_block *slot, void *block, size_t size)
{
	slot->addr = (uint64_t)block;
	slot->size = size;
	__atomic_store_n(&slot->is_used, block != NULL, __ATOMIC_SEQ_CST);
}

static void give_back(struct made_block *slot)
{
	begin_change(slot);
	__libc_free((void *)slot->addr);
	if (freed_cnt < FREED_MAX && !order.endless)
		freed[freed_cnt++] = (struct made_block){.addr = slot->addr, .size = slot->size};
	end_change(slot, NULL, 0);
}

static void *get(size_t size)
{
	uint64_t kind = rnd() % 32;

	if (kind == 0)
		return get_aligned(16UL << rnd() % 9, size);
	return __libc_malloc(size);
}

static void step(void)
{
	struct made_block *slot = &mine[rnd() % (uint64_t)mine_cnt];
	size_t size = random_size();
	void *block;

	if (slot->addr && rnd() % 8) {
		give_back(slot);
		return;
	}
	begin_change(slot);
	block = slot->addr ? __libc_realloc((void *)slot->addr, size) : get(size);
	if (!block)
		abort();
	end_change(slot, block, size);
	fill(block, size / 8 < FILLED_MAX ? size / 8 : FILLED_MAX);
}

/* Calls sbrk() in every order.sbrk-th step, as programs may do. */
static void move_break(long at)
{
	if (!order.sbrk || at % order.sbrk)
		return;
	char *taken = sbrk((long)(rnd() % 20000) + 1);

	if (taken != (void *)-1 && rnd() % 2)
		taken[0] = 1;
}

/* Each thread has its own part of the records, so no locks are needed. */
static void *run_endless(void *arg)
{
	long number = (long)arg;

	mine_cnt = order.slots / order.threads;
	mine = slots + number * mine_cnt;
	state = (uint64_t)(order.seed + number);
	for (;;)
		step();
	return NULL;
}

static void *run(void *arg)
{
	long exits = (long)arg;

	mine_cnt = order.slots;
	state = (uint64_t)order.seed ^ (uint64_t)(uintptr_t)&state;

	/*
	 * Get an arena for this thread before another thread exits: otherwise glibc would give it
	 * the other thread's arena.
	 */
	__libc_free(__libc_malloc(1));
	pthread_barrier_wait(&begin);
	for (long i = 1; i <= order.steps; i++) {
		pthread_mutex_lock(&lock);
		step();
		move_break(i);
		pthread_mutex_unlock(&lock);
	}
	if (exits)
		return NULL;
	pthread_barrier_wait(&done);
	for (;;)
		pause();
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[THREADS_MAX];

	pthread_barrier_init(&done, NULL, (unsigned int)(order.threads - order.exits + 1));
	pthread_barrier_init(&begin, NULL, (unsigned int)order.threads + 1);
	for (long i = 0; i < order.threads; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(i < order.exits ? 1L : 0L)))
			abort();
	pthread_barrier_wait(&begin);
	for (long i = 0; i < order.exits; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_wait(&done);
}

static void read_order(int argc, char **argv)
{
	struct {
		const char *name;
		long *value;
	} names[] = {
		{"seed", &order.seed},   {"steps", &order.steps},     {"threads", &order.threads},
		{"exits", &order.exits}, {"slots", &order.slots},     {"sbrk", &order.sbrk},
		{"huge", &order.huge},   {"small", &order.small},     {"drop", &order.drop},
		{"wall", &order.wall},   {"endless", &order.endless}, {"remap", &order.remap},
	};

	for (int i = 1; i < argc; i++)
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
			size_t len = strlen(names[j].name);

			if (!strncmp(argv[i], names[j].name, len) && argv[i][len] == '=')
				*names[j].value = strtol(argv[i] + len + 1, NULL, 0);
		}
	if (order.slots > SLOTS || order.threads > THREADS_MAX)
		abort();
}

/* Allocates large aligned blocks with their own mappings, and shrinks and grows them. */
static void remap_blocks(void)
{
	for (long i = 0; i < order.remap; i++) {
		struct made_block *slot = &slots[i];
		size_t size = i % 2 ? 16 : 3 << 20;
		void *block = get_aligned(16UL << i % 9, 1 << 20);

		if (slot->addr)
			give_back(slot);
		end_change(slot, __libc_realloc(block, size), size);
	}
}

/* Maps a page above the program break, so that glibc must continue its main arena elsewhere. */
static void build_wall(void)
{
	char *end = sbrk(0);

	end += -(uintptr_t)end % 4096 + 65536;
	if (mmap(end, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		abort();
}

static void tell(const struct made_block *blocks, size_t cnt)
{
	char line[64];
	int len;
	char c;

	len = snprintf(line, sizeof(line), "truth %p %zu\n", (void *)blocks, cnt);
	if (write(1, line, (size_t)len) != len || read(0, &c, 1) < 0)
		abort();
}

int made_heap_main(int argc, char **argv)
{
	read_order(argc, argv);
	state = (uint64_t)order.seed;
	mine_cnt = order.slots;
#ifdef __SANITIZE_ADDRESS__
	get_aligned = (void *(*)(size_t, size_t))dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD),
						       "__libc_memalign");
#else
	get_aligned = __libc_memalign;
#endif
	freed = mmap(NULL, (FREED_MAX + SLOTS) * sizeof(*freed), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (freed == MAP_FAILED || !get_aligned)
		abort();
	__libc_free(__libc_malloc(1)); /* the first thread to allocate gets the main arena */
	if (order.endless) {
		pthread_t thread;

		for (long i = 0; i < order.threads; i++)
			if (pthread_create(&thread, NULL, run_endless, (void *)i))
				abort();
		tell(slots, (size_t)order.slots);
		_exit(0);
	}
	if (order.threads)
		run_threads();
	for (long i = 1; i <= order.steps; i++) {
		step();
		move_break(i);
		if (order.wall && i == order.steps / 4)
			build_wall();
	}
	for (long i = 0; i < order.drop; i++) {
		struct made_block *slot = &slots[rnd() % (uint64_t)order.slots];

		if (slot->addr)
			give_back(slot);
	}
	remap_blocks();
	for (long i = 0; i < order.slots; i++)
		if (slots[i].addr)
			freed[freed_cnt++] = slots[i];
	tell(freed, freed_cnt);
	_exit(0);
}

#ifdef MADE_HEAP_PROGRAM
int main(int argc, char **argv)
{
	return made_heap_main(argc, argv);
}
#endif
