// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library whose function call_back() calls a function of its caller, from a frame with an array
 * of ROOM bytes. It is built twice: the two libraries differ only in ROOM.
 */
#include "truth.h"

void call_back(void (*function)(void));

OWN_FRAME void call_back(void (*function)(void))
{
	volatile char room[ROOM];

	room[0] = 1;
	function();
	room[ROOM - 1] = room[0];
}
