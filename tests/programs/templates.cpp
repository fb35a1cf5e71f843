// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * templates: until a byte is read from stdin, 60 instances of a function template leak in turn.
 */
#include <poll.h>

#include <utility>

#include "truth.h"

#define TICK_MS 10

template <int number> struct handler {
	OWN_FRAME static void remember()
	{
		keep(malloc(64 + number)); /* LEAK */
	}
};

template <int... number> static void remember(int turn, std::integer_sequence<int, number...>)
{
	static void (*const functions[])() = {handler<number>::remember...};

	functions[turn % sizeof...(number)]();
}

int main()
{
	struct pollfd input = {STDIN_FILENO, POLLIN, 0};

	ready();
	for (int turn = 0; !poll(&input, 1, TICK_MS); turn++)
		remember(turn, std::make_integer_sequence<int, 60>());
	return 0;
}
