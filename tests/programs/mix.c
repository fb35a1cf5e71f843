// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mix WAY SITES BLOCKS: allocates BLOCKS blocks of mixed sizes on each of SITES call paths, with
 * the same sizes on each path, then frees them. WAY selects how the blocks are allocated:
 *  heap     by malloc
 *  zeros    by malloc, but every second block has size 0
 *  realloc  by realloc of blocks of other sizes
 *  maps     by mmap; the second half of each mapping is unmapped immediately
 *  threads  by malloc, ten blocks in each of many threads
 */
#include <pthread.h>
#include <sys/mman.h>

#include "truth.h"

#define DEPTH 6
#define LARGEST 100000
#define PAGE 4096UL
#define PAGES_MOST 64
#define BLOCKS_OF_THREAD 10

struct way {
	const char *name;
	const char *function; /* name of the function that allocates */
	void *(*make)(size_t which);
	/* size of a block; for mappings, of the half that stays mapped */
	size_t (*size)(size_t which);
	void (*destroy)(void *block, size_t which);
	int in_threads;
};

static const struct way *way;
static void **blocks;
static size_t block_cnt;

/*
 * Returns the size of a block: 16 to 100,000 bytes. Each range between two successive powers of two
 * is equally likely.
 */
static size_t mixed(size_t which)
{
	uint64_t bits = (which + 1) * 0x9e3779b97f4a7c15ULL;
	size_t octave = 16UL << (bits >> 32) % 13, size = octave + (bits >> 40) % octave;

	return size < LARGEST ? size : LARGEST;
}

static size_t mixed_or_zero(size_t which)
{
	return which % 2 ? mixed(which) : 0;
}

OWN_FRAME static void *ask(size_t which)
{
	return keep(malloc(way->size(which))); /* LEAK */
}

OWN_FRAME static void *old_block(size_t which)
{
	return keep(malloc(mixed(which + 1)));
}

OWN_FRAME static void *ask_again(size_t which)
{
	return keep(realloc(old_block(which), mixed(which))); /* LEAK */
}

static size_t half_a_mapping(size_t which)
{
	return (1 + mixed(which) % PAGES_MOST) * PAGE;
}

OWN_FRAME static void *ask_to_map(size_t which)
{
	size_t size = half_a_mapping(which);
	char *p;

	p = keep(mmap(NULL, 2 * size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); /* LEAK */
	must(p != MAP_FAILED && munmap(p + size, size) == 0, "mmap");
	return p;
}

static void free_block(void *block, size_t which)
{
	(void)which;
	free(block);
}

static void unmap(void *block, size_t which)
{
	must(munmap(block, half_a_mapping(which)) == 0, "munmap");
}

static void *step(size_t which, size_t bits, int depth);

OWN_FRAME static void *left(size_t which, size_t bits, int depth)
{
	return keep(step(which, bits, depth));
}

OWN_FRAME static void *right(size_t which, size_t bits, int depth)
{
	return keep(step(which, bits, depth));
}

static void *step(size_t which, size_t bits, int depth)
{
	if (!depth)
		return way->make(which);
	return bits & 1 ? right(which, bits >> 1, depth - 1) : left(which, bits >> 1, depth - 1);
}

static void make(size_t i)
{
	blocks[i] = left(i % block_cnt, i / block_cnt, DEPTH);
	must(blocks[i] != NULL, "memory");
}

static void *thread(void *first)
{
	for (size_t i = 0; i < BLOCKS_OF_THREAD; i++)
		make((size_t)first + i);
	return NULL;
}

static void make_all(size_t cnt)
{
	for (size_t i = 0; i < cnt; i += way->in_threads ? BLOCKS_OF_THREAD : 1) {
		pthread_t id;

		if (!way->in_threads)
			make(i);
		else
			must(!pthread_create(&id, NULL, thread, (void *)i) &&
			     !pthread_join(id, NULL), "thread");
	}
}

static const struct way ways[] = {
	{"heap", "ask", ask, mixed, free_block, 0},
	{"zeros", "ask", ask, mixed_or_zero, free_block, 0},
	{"realloc", "ask_again", ask_again, mixed, free_block, 0},
	{"maps", "ask_to_map", ask_to_map, half_a_mapping, unmap, 0},
	/* each thread has a sampling countdown of its own */
	{"threads", "ask", ask, mixed, free_block, 1},
};

int main(int argc, char **argv)
{
	size_t sites, bytes = 0;

	must(argc == 4, "usage");
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			way = &ways[i];
	sites = strtoul(argv[2], NULL, 10);
	block_cnt = strtoul(argv[3], NULL, 10);
	must(way && sites <= 1 << DEPTH && block_cnt % BLOCKS_OF_THREAD == 0, "usage");
	blocks = calloc(sites * block_cnt, sizeof(*blocks));
	must(blocks != NULL, "memory");
	for (size_t i = 0; i < block_cnt; i++)
		bytes += way->size(i);
	ready();
	make_all(sites * block_cnt);
	say("each %s %zu %zu\n", way->function, block_cnt, bytes);
	ready();
	for (size_t i = 0; i < sites * block_cnt; i++)
		way->destroy(blocks[i], i % block_cnt);
	ready();
	return 0;
}
