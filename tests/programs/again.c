// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocates a block for each byte read from stdin, until stdin ends. For test cases that repeat an
 * allocation until memleak reports it.
 */
#include "truth.h"

OWN_FRAME static void again_alloc(void)
{
	must(keep(malloc(33)) != NULL, "malloc"); /* LEAK */
}

int main(void)
{
	for (;;) {
		ready();
		again_alloc();
	}
}
