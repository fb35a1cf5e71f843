// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library for frames.c, built several times: LEAK is the name of its leaking function, SIZE the
 * size of its blocks, ROOM the number of bytes of an array in each of its frames. Libraries with
 * equal ROOM have equal code offsets. Built with frame pointers, so that memleak can walk stacks
 * before it has read the library.
 */
#include "truth.h"

#define STRING_OF(name) #name
#define STRING(name) STRING_OF(name)

const char plugin_function[] = STRING(LEAK);
const size_t plugin_size = SIZE;

void plugin_work(void);

OWN_FRAME static void *LEAK(void)
{
	volatile char room[ROOM];
	void *block;

	room[0] = 1;
	block = keep(malloc(plugin_size)); /* LEAK */
	room[1] = room[0];
	return block;
}

OWN_FRAME void plugin_work(void)
{
	volatile char room[ROOM];
	volatile int left = 5;

	room[0] = 1;
	while (left--)
		LEAK();
	room[1] = room[0];
}
