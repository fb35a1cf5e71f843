// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * keeps SCENE: changes its heap after the runner has sent a byte, and goes on until the next byte.
 * Then prints `kept BYTES` (the free memory in its heap), `leaked BYTES`, and `older COUNT BYTES`
 * (the number and the usable size of the blocks that were allocated before the first byte and still
 * exist).
 *
 *  leak   frees three of every four old blocks, and leaks blocks that do not fit into the gaps
 *  spike  allocates blocks, and frees all but the last one, which keeps glibc from trimming the
 *         free memory below it
 */
#include <malloc.h>
#include <poll.h>

#include "truth.h"

#define BLOCKS 100000
#define STEPS_PER_SECOND 20
#define PIECE 5000

static void *old[BLOCKS];
static size_t leaked;

static void *take(size_t size)
{
	void *block = malloc(size);

	must(block != NULL, "malloc");
	return memset(block, 1, size);
}

OWN_FRAME static void leak_some(void)
{
	keep(memset(malloc(PIECE), 1, PIECE)); /* LEAK */
	leaked += PIECE;
}

static void fragment(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		if (i % 4) {
			free(old[i]);
			old[i] = NULL;
		}
}

static void say_older(void)
{
	size_t cnt = 0, bytes = 0;

	for (size_t i = 0; i < BLOCKS; i++) {
		cnt += old[i] != NULL;
		bytes += malloc_usable_size(old[i]);
	}
	say("older %zu %zu\n", cnt, bytes);
}

OWN_FRAME static void make_spike(void)
{
	static void *blocks[BLOCKS];

	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = take(500);
	leaked = 1000;
	keep(memset(malloc(leaked), 1, leaked)); /* LEAK */
	for (size_t i = 0; i < BLOCKS; i++)
		free(blocks[i]);
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	int leaks = argc == 2 && !strcmp(argv[1], "leak");

	must(leaks || (argc == 2 && !strcmp(argv[1], "spike")), "usage");
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	for (size_t i = 0; leaks && i < BLOCKS; i++)
		old[i] = take(500);
	ready();
	if (leaks)
		fragment();
	else
		make_spike();
	while (poll(&input, 1, 1000 / STEPS_PER_SECOND) == 0)
		if (leaks)
			leak_some();
	wait_byte();
	say_older();
	say("kept %zu\nleaked %zu\n", mallinfo2().fordblks, leaked);
	ready();
	return 0;
}
