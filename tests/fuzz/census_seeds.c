// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes seed inputs for fuzz_census to a folder. Each contains the heaps of a small program, and
 * the structure in libc that describes the main arena. With the argument "heap", this program acts
 * as such a small program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proof/census.h"
#include "proof/heap_arena.h"
#include "tests/fuzz/census_image.h"
#include "tests/unit/proof/heap_program.h"
#include "tests/unit/proof/process_memory.h"

#define PAGE 4096ULL

struct image {
	struct image_region regions[IMAGE_REGIONS_MAX];
	size_t cnt;
};

static void add(struct image *image, uint64_t start, uint64_t end, enum image_kind kind)
{
	start &= ~(PAGE - 1);
	end = (end + PAGE - 1) & ~(PAGE - 1);
	if (image->cnt == IMAGE_REGIONS_MAX)
		return;
	image->regions[image->cnt++] = (struct image_region){
		.start = start,
		.pages = (uint32_t)((end - start) / PAGE - 1),
		.kind = kind,
		.bytes = (uint16_t)(end - start > 65535 ? 65535 : end - start)};
}

static int by_start(const void *a, const void *b)
{
	const struct image_region *region_a = a, *region_b = b;

	return (region_a->start > region_b->start) - (region_a->start < region_b->start);
}

static void describe(const struct memory *memory, struct image *image)
{
	struct heap_reader reader;
	struct heap_arenas arenas;
	struct census census;

	assert_int_equal(heap_reader_init(&reader, memory), 0);
	assert_int_equal(heap_arenas_find(&reader, &arenas), 0);
	for (size_t i = 0; i < arenas.cnt; i++)
		if (arenas.items[i].main)
			add(image, arenas.items[i].start, arenas.items[i].end, IMAGE_FILE);
	heap_arenas_deinit(&arenas);
	heap_reader_deinit(&reader);
	assert_int_equal(census_take(memory, NULL, NULL, &census), 0);
	for (size_t i = 0; i < census.heap_cnt; i++)
		add(image, census.heaps[i].start, census.heaps[i].end,
		    census.heaps[i].main ? IMAGE_BREAK : IMAGE_ANONYMOUS);
	census_deinit(&census);
	qsort(image->regions, image->cnt, sizeof(image->regions[0]), by_start);
}

static void write_image(const struct memory *memory, const struct image *image, const char *path)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputc((int)image->cnt, out);
	fwrite(image->regions, sizeof(image->regions[0]), image->cnt, out);
	for (size_t i = 0; i < image->cnt; i++) {
		const struct image_region *region = &image->regions[i];
		char *bytes = calloc(1, region->bytes);

		assert_non_null(bytes);
		memory->ops->read(memory, region->start, bytes, region->bytes);
		fwrite(bytes, 1, region->bytes, out);
		free(bytes);
	}
	fclose(out);
}

static void make_seed(const char *folder, size_t number, char *order, const char *tunables)
{
	char *argv[16] = {"/proc/self/exe", "heap"}, path[4096];
	struct heap_program program = {0};
	struct process_memory memory;
	struct image image = {0};

	for (size_t i = 2; i < 15 && order; i++)
		argv[i] = strsep(&order, " ");
	heap_program_start(&program, argv, tunables);
	assert_int_equal(process_memory_init(&memory, program.pid), 0);
	describe(&memory.memory, &image);
	snprintf(path, sizeof(path), "%s/heap%zu", folder, number);
	write_image(&memory.memory, &image, path);
	process_memory_deinit(&memory);
	heap_program_end(&program);
}

int main(int argc, char **argv)
{
	char orders[][64] = {"slots=20 steps=60", "slots=60 steps=300 small=1 threads=1",
			     "slots=30 steps=300 small=1", "slots=40 steps=300 small=1 sbrk=50",
			     "slots=40 steps=400 small=1 wall=1"};

	if (argc >= 2 && !strcmp(argv[1], "heap"))
		return made_heap_main(argc - 1, argv + 1);
	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		make_seed(argv[1], i, orders[i],
			  i == 2 ? "glibc.malloc.top_pad=0:glibc.malloc.tcache_count=0"
				 : "glibc.malloc.top_pad=0");
	return 0;
}
