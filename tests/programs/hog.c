// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocates memory and writes to it until the kernel kills the program because memory has run out.
 * Must run in a memory cgroup with a limit of less than 1 GiB.
 */
#include "truth.h"

#define BLOCK (1024 * 1024)
#define MOST 1024

OWN_FRAME static void *hoard(void)
{
	return keep(malloc(BLOCK)); /* LEAK */
}

int main(void)
{
	ready();
	for (int i = 0; i < MOST; i++) {
		void *block = hoard();

		if (block)
			memset(block, 1, BLOCK);
	}
	return 1;
}
