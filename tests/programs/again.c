// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocates once for each byte read, until its input ends: for cases that wait for memleak to
 * notice.
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
