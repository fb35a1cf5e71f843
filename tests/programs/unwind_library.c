// SPDX-License-Identifier: GPL-2.0-or-later
/* The library that unwind.c and unwind_exotic.c call; see unwind.h. */
#include "truth.h"
#include "unwind.h"

OWN_FRAME static void library_inner(void (*function)(void *arg), void *arg)
{
	volatile char room[123];

	room[0] = 1;
	function(arg);
	room[1] = room[0];
}

OWN_FRAME void library_outer(void (*function)(void *arg), void *arg)
{
	library_inner(function, arg);
	__asm__ volatile("" : : : "memory");
}
