// SPDX-License-Identifier: GPL-2.0-or-later
/* One allocation for each byte, for ever: for cases that wait until memleak has noticed. */
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
