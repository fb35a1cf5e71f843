// SPDX-License-Identifier: GPL-2.0-or-later
/* A shared library whose constructor allocates before main(). */
#include "truth.h"

OWN_FRAME static void early_alloc(void)
{
	must(keep(malloc(72)) != NULL, "malloc"); /* LEAK */
}

__attribute__((constructor)) static void start(void)
{
	for (int i = 0; i < 3; i++)
		early_alloc();
}
