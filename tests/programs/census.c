// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a heap that is partly used and partly free before memleak is attached, and changes the heap
 * afterwards. Prints the outstanding blocks, and a line for each size class in which this program
 * allocates but no library does:
 *
 *	upto_LIMIT KNOWN BYTES OLDER BYTES FREE BYTES
 *
 * LIMIT is the largest size in the class. KNOWN is the number of blocks allocated after memleak was
 * attached, OLDER the number of older blocks, FREE the number of free blocks. Each number is
 * followed by the usable bytes of these blocks.
 *
 * Also prints glibc's own figures for the heap, the number of freed blocks that glibc counts as
 * used because they are in a thread's cache, and the number of touched pages in blocks that
 * malloc() mapped separately. With the argument "busy", another thread runs all the time.
 */
#include <malloc.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "truth.h"

#define PAGE 4096
#define HEADER 16
#define SMALL 100
#define LARGE 20000
#define LARGER 40000
#define MAPPED (1 << 20)
#define MORE_MAPPED (3 << 20)
#define TOUCHED 100000
/* glibc's default maximum number of chunks of one size in a thread's cache */
#define CACHED 7

struct sum {
	size_t count, bytes;
};

/*
 * Blocks of one size class. known: allocated after memleak was attached; older: allocated earlier;
 * free_: freed by now.
 */
struct class
{
	struct sum known, older, free_;
};

static struct class small, large, larger, mapped, more_mapped;
static void *small_blocks[1000], *large_blocks[300], *larger_blocks[50], *mapped_blocks[2];

static void move(void *block, struct sum *from, struct sum *to)
{
	size_t bytes = malloc_usable_size(block);

	if (from) {
		from->count--;
		from->bytes -= bytes;
	}
	to->count++;
	to->bytes += bytes;
}

static void fill(void **blocks, size_t cnt, size_t size, struct sum *sum)
{
	for (size_t i = 0; i < cnt; i++) {
		blocks[i] = keep(malloc(size));
		must(blocks[i] != NULL, "memory");
		move(blocks[i], NULL, sum);
	}
}

/* Frees two of every five blocks. They are not adjacent, so glibc does not merge them. */
static void drop(void **blocks, size_t cnt, struct sum *from, struct sum *to)
{
	for (size_t i = 0; i < cnt; i++) {
		if (i % 5 != 1 && i % 5 != 3)
			continue;
		move(blocks[i], from, to);
		free(blocks[i]);
		blocks[i] = NULL;
	}
}

OWN_FRAME static void fill_larger(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(larger_blocks); i++) {
		larger_blocks[i] = keep(malloc(LARGER)); /* LEAK */
		move(larger_blocks[i], NULL, &larger.known);
	}
}

/* Allocates blocks for which glibc reuses chunks that drop() has freed. */
OWN_FRAME static void refill(size_t cnt)
{
	for (size_t i = 0; cnt; i++) {
		if (large_blocks[i])
			continue;
		large_blocks[i] = keep(malloc(LARGE)); /* LEAK */
		move(large_blocks[i], &large.free_, &large.known);
		cnt--;
	}
}

OWN_FRAME static void map_more(void)
{
	mapped_blocks[1] = keep(malloc(MORE_MAPPED)); /* LEAK */
	memset(mapped_blocks[1], 1, TOUCHED);
	move(mapped_blocks[1], NULL, &more_mapped.known);
}

static void say_class(size_t upto, const struct class *class)
{
	say("upto_%zu %zu %zu %zu %zu %zu %zu\n", upto, class->known.count, class->known.bytes,
	    class->older.count, class->older.bytes, class->free_.count, class->free_.bytes);
}

static void say_all(void)
{
	const struct mallinfo2 info = mallinfo2();

	say_class(128, &small);
	say_class(32 << 10, &large);
	say_class(64 << 10, &larger);
	say_class(2 << 20, &mapped);
	say_class(4 << 20, &more_mapped);
	say("mallinfo %zu %zu %zu %d\n", info.arena, info.hblkhd, info.fordblks, CACHED);
	say("mapped_pages %d\n", 1 + (HEADER + TOUCHED + PAGE - 1) / PAGE);
}

static void *run(void *arg)
{
	for (;;)
		__asm__ volatile("" : : : "memory");
	return arg;
}

int main(int argc, char **argv)
{
	const size_t larger_cnt = ARRAY_SIZE(larger_blocks);
	pthread_t thread;

	/* Disable huge pages: they would make more memory resident than the program touches. */
	must(!prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), "no huge pages");
	if (argc > 1 && !strcmp(argv[1], "busy"))
		must(!pthread_create(&thread, NULL, run, NULL), "thread");
	fill(small_blocks, ARRAY_SIZE(small_blocks), SMALL, &small.older);
	fill(large_blocks, ARRAY_SIZE(large_blocks), LARGE, &large.older);
	fill(mapped_blocks, 1, MAPPED, &mapped.older);
	drop(small_blocks, ARRAY_SIZE(small_blocks), &small.older, &small.free_);
	drop(large_blocks, ARRAY_SIZE(large_blocks), &large.older, &large.free_);
	ready();
	fill_larger();
	drop(larger_blocks, larger_cnt, &larger.known, &larger.free_);
	refill(20);
	map_more();
	leaks("fill_larger", larger_cnt - larger_cnt / 5 * 2,
	      (larger_cnt - larger_cnt / 5 * 2) * LARGER);
	leaks("refill", 20, 20 * LARGE);
	leaks("map_more", 1, MORE_MAPPED);
	say_all();
	ready();
	return 0;
}
