// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "named library" calls a library function that allocates in internal functions of the library.
 * "named own" allocates in two functions that each have many callers: a malloc wrapper and a
 * constructor.
 */
#include <regex.h>

#include "truth.h"

OWN_FRAME static void match_user(regex_t *regex)
{
	must(!regcomp(regex, "^(alice|bob)[0-9]+@(example|invalid)$", REG_EXTENDED), "regcomp");
	__asm__ volatile("");
}

/*
 * A malloc wrapper: has many callers, for blocks of many sizes. Its name does not show that it is a
 * wrapper.
 */
OWN_FRAME static void *take(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

#define TAKER(n)                                                                                   \
	OWN_FRAME static void taker_##n(void)                                                      \
	{                                                                                          \
		take(100 + n);                                                                     \
		__asm__ volatile("");                                                              \
	}

TAKER(0)
TAKER(1)
TAKER(2)
TAKER(3)
TAKER(4)
TAKER(5)
TAKER(6)
TAKER(7)

/* A constructor: has as many callers as take(), but all its blocks have one size. */
OWN_FRAME static void *make(void)
{
	return keep(malloc(64)); /* LEAK */
}

#define MAKER(n)                                                                                   \
	OWN_FRAME static void maker_##n(void)                                                      \
	{                                                                                          \
		make();                                                                            \
		__asm__ volatile("");                                                              \
	}

MAKER(0)
MAKER(1)
MAKER(2)
MAKER(3)
MAKER(4)
MAKER(5)
MAKER(6)
MAKER(7)

static void call_all(void)
{
	void (*const callers[])(void) = {taker_0, taker_1, taker_2, taker_3, taker_4, taker_5,
					 taker_6, taker_7, maker_0, maker_1, maker_2, maker_3,
					 maker_4, maker_5, maker_6, maker_7};

	for (size_t i = 0; i < ARRAY_SIZE(callers); i++)
		callers[i]();
}

int main(int argc, char **argv)
{
	static regex_t regex;

	must(argc == 2, "usage");
	ready();
	if (!strcmp(argv[1], "library"))
		match_user(&regex);
	else
		call_all();
	ready();
	return 0;
}
