// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spread: until a byte is read from stdin, audit() leaks blocks of eleven sizes, and lend()
 * allocates equal blocks but frees each of them a second later. Both are called through 4096
 * different call paths, one after another.
 *
 * spread kept: make() allocates the blocks, through the same call paths, for prepare(), which keeps
 * its blocks, and for query(), which frees each of its blocks a second later.
 */
#include <poll.h>

#include "truth.h"

#define TICK_MS 10
#define PER_TICK 4
#define SIZES 11
#define LENT (1000 / TICK_MS * PER_TICK)

static void *lent[LENT];
static unsigned int calls;

OWN_FRAME static void audit(void)
{
	keep(malloc(56 + calls % SIZES * 8)); /* LEAK */
}

OWN_FRAME static void lend(void)
{
	free(lent[calls % LENT]);
	lent[calls % LENT] = keep(malloc(56 + calls % SIZES * 8));
}

#define INNER(n)                                                                                   \
	OWN_FRAME static void inner_##n(void (*leaf)(void))                                        \
	{                                                                                          \
		leaf();                                                                            \
		__asm__ volatile("");                                                              \
	}

#define MIDDLE(n)                                                                                  \
	OWN_FRAME static void middle_##n(void (*leaf)(void))                                       \
	{                                                                                          \
		inner[calls % 16](leaf);                                                           \
		__asm__ volatile("");                                                              \
	}

#define OUTER(n)                                                                                   \
	OWN_FRAME static void outer_##n(void (*leaf)(void))                                        \
	{                                                                                          \
		middle[calls / 16 % 16](leaf);                                                     \
		__asm__ volatile("");                                                              \
	}

#define SIXTEEN(one)                                                                               \
	one(0) one(1) one(2) one(3) one(4) one(5) one(6) one(7) one(8) one(9) one(10) one(11)      \
		one(12) one(13) one(14) one(15)

#define NAME(prefix, n) prefix##n,

typedef void level_fn(void (*leaf)(void));

SIXTEEN(INNER)
#define INNER_NAME(n) NAME(inner_, n)
static level_fn *const inner[] = {SIXTEEN(INNER_NAME)};

SIXTEEN(MIDDLE)
#define MIDDLE_NAME(n) NAME(middle_, n)
static level_fn *const middle[] = {SIXTEEN(MIDDLE_NAME)};

SIXTEEN(OUTER)
#define OUTER_NAME(n) NAME(outer_, n)
static level_fn *const outer[] = {SIXTEEN(OUTER_NAME)};

static void *made;

OWN_FRAME static void make(void)
{
	made = keep(malloc(56 + calls % SIZES * 8)); /* LEAK */
}

OWN_FRAME static void prepare(void)
{
	outer[calls / 256 % 16](make);
	keep(made);
}

OWN_FRAME static void query(void)
{
	outer[calls / 256 % 16](make);
	free(lent[calls % LENT]);
	lent[calls % LENT] = keep(made);
}

static void tick_kept(void)
{
	for (int i = 0; i < PER_TICK; i++, calls++) {
		prepare();
		query();
	}
}

static void tick(void)
{
	for (int i = 0; i < PER_TICK; i++, calls++) {
		outer[calls / 256 % 16](audit);
		outer[calls / 256 % 16](lend);
	}
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	ready();
	while (poll(&input, 1, TICK_MS) == 0)
		argc > 1 ? tick_kept() : tick();
	return 0;
}
