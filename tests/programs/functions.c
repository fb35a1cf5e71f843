// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * functions NAME...: calls the named allocator functions; "all" calls every function that this
 * program knows. Allocates blocks of known sizes in the first phase, and frees them in the second
 * phase.
 */
#include <malloc.h>
#include <sys/mman.h>

#include "truth.h"

#define TIMES 3
#define PAGE 4096

static void *heap[256], *mapped[16];
static size_t heap_cnt, mapped_cnt, mapped_size[16];

static void hold(void *p)
{
	must(p != NULL, "allocation");
	heap[heap_cnt++] = p;
}

static void hold_mapping(void *p, size_t size)
{
	must(p != MAP_FAILED, "mapping");
	mapped[mapped_cnt] = p;
	mapped_size[mapped_cnt++] = size;
}

OWN_FRAME static void leak_malloc(void)
{
	for (int i = 0; i < TIMES; i++)
		hold(malloc(100)); /* LEAK */
	leaks("leak_malloc", TIMES, TIMES * 100);
}

OWN_FRAME static void leak_calloc(void)
{
	for (int i = 0; i < TIMES; i++)
		hold(calloc(7, 16)); /* LEAK */
	leaks("leak_calloc", TIMES, TIMES * 7 * 16);
}

OWN_FRAME static void leak_calloc_big(void)
{
	for (int i = 0; i < TIMES; i++)
		hold(calloc(1024, 1024)); /* LEAK */
	leaks("leak_calloc_big", TIMES, TIMES * 1024 * 1024);
}

OWN_FRAME static void leak_realloc(void)
{
	for (int i = 0; i < TIMES; i++)
		hold(realloc(NULL, 50)); /* LEAK */
	leaks("leak_realloc", TIMES, TIMES * 50);
}

OWN_FRAME static void *make_block(size_t size)
{
	return keep(malloc(size));
}

OWN_FRAME static void leak_realloc_grown(void)
{
	for (int i = 0; i < TIMES; i++)
		hold(realloc(make_block(10), 1000)); /* LEAK */
	leaks("leak_realloc_grown", TIMES, TIMES * 1000);
}

OWN_FRAME static void leak_reallocarray(void)
{
	for (int i = 0; i < TIMES; i++)
		hold(reallocarray(make_block(10), 30, 40)); /* LEAK */
	leaks("leak_reallocarray", TIMES, TIMES * 30 * 40);
}

OWN_FRAME static void leak_posix_memalign(void)
{
	for (int i = 0; i < TIMES; i++) {
		void *p = NULL;

		must(posix_memalign(&p, 256, 300) == 0, "posix_memalign"); /* LEAK */
		hold(p);
	}
	leaks("leak_posix_memalign", TIMES, TIMES * 300);
}

OWN_FRAME static void leak_aligned_alloc(void)
{
	for (int i = 0; i < TIMES; i++)
		hold(aligned_alloc(128, 512)); /* LEAK */
	leaks("leak_aligned_alloc", TIMES, TIMES * 512);
}

OWN_FRAME static void leak_memalign(void)
{
	for (int i = 0; i < TIMES; i++)
		hold(memalign(64, 200)); /* LEAK */
	leaks("leak_memalign", TIMES, TIMES * 200);
}

OWN_FRAME static void leak_valloc(void)
{
	for (int i = 0; i < TIMES; i++)
		hold(valloc(600)); /* LEAK */
	leaks("leak_valloc", TIMES, TIMES * 600);
}

OWN_FRAME static void leak_pvalloc(void)
{
	for (int i = 0; i < TIMES; i++)
		hold(pvalloc(700)); /* LEAK */
	leaks("leak_pvalloc", TIMES, TIMES * 700);
}

OWN_FRAME static void leak_nothing(void)
{
	for (int i = 0; i < 1000; i++)
		free(make_block(1 + i * 7));
}

OWN_FRAME static void leak_mmap(void)
{
	for (int i = 0; i < TIMES; i++)
		hold_mapping(mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, /* LEAK */
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), /* LEAK */
			     4 * PAGE);
	maps("leak_mmap", TIMES, TIMES * 4 * PAGE, "mmap");
}

OWN_FRAME static void leak_mmap64(void)
{
	hold_mapping(mmap64(NULL, 5 * PAGE, PROT_READ | PROT_WRITE, /* LEAK */
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), /* LEAK */
		     5 * PAGE);
	maps("leak_mmap64", 1, 5 * PAGE, "mmap");
}

OWN_FRAME static void *make_mapping(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, /* LEAK */
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* LEAK */
}

OWN_FRAME static void leak_no_mapping(void)
{
	void *p = make_mapping(6 * PAGE);

	must(p != MAP_FAILED && munmap(p, 6 * PAGE) == 0, "munmap");
}

OWN_FRAME static void leak_mremap(void)
{
	hold_mapping(mremap(make_mapping(2 * PAGE), 2 * PAGE, 64 * PAGE, MREMAP_MAYMOVE),
		     64 * PAGE);
	maps("make_mapping", 1, 64 * PAGE, "mmap");
}

static const struct {
	const char *name;
	void (*run)(void);
} functions[] = {
	{"malloc", leak_malloc},
	{"calloc", leak_calloc},
	{"calloc_big", leak_calloc_big},
	{"realloc", leak_realloc},
	{"realloc_grown", leak_realloc_grown},
	{"reallocarray", leak_reallocarray},
	{"posix_memalign", leak_posix_memalign},
	{"aligned_alloc", leak_aligned_alloc},
	{"memalign", leak_memalign},
	{"valloc", leak_valloc},
	{"pvalloc", leak_pvalloc},
	{"free", leak_nothing},
	{"mmap", leak_mmap},
	{"mmap64", leak_mmap64},
	{"munmap", leak_no_mapping},
	{"mremap", leak_mremap},
};

int main(int argc, char **argv)
{
	ready();
	for (int i = 1; i < argc; i++) {
		int found = 0;

		for (size_t j = 0; j < ARRAY_SIZE(functions); j++) {
			if (strcmp(argv[i], "all") && strcmp(argv[i], functions[j].name))
				continue;
			functions[j].run();
			found = 1;
		}
		must(found, argv[i]);
	}
	marker();
	ready();
	while (heap_cnt)
		free(heap[--heap_cnt]);
	while (mapped_cnt--)
		must(munmap(mapped[mapped_cnt], mapped_size[mapped_cnt]) == 0, "munmap");
	leaks("marker", 1, 24);
	ready();
	return 0;
}
