// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * growing SECONDS: calls functions that keep memory in different ways, until it reads a byte from
 * stdin. Counts time in steps of 10 ms, so its seconds are longer on a slow machine. Prints the
 * functions that leak as `grows FUNCTION ...`, the fastest first, and the functions that do not
 * leak as `stays FUNCTION ...`. Prints `ready` at the start, and again after SECONDS.
 */
#include <poll.h>

#include "truth.h"

#define TICK_MS 10
#define PER_SECOND (1000 / TICK_MS)
#define QUEUE 10000
#define SAW_SECONDS 11 /* period of sawtooth() in seconds; SECONDS must not be a multiple of it */

static void *queue[QUEUE];
static void *saw[SAW_SECONDS * PER_SECOND];

OWN_FRAME static void *slow_leak(void)
{
	return keep(malloc(100)); /* LEAK */
}

OWN_FRAME static void *fast_leak(void)
{
	return keep(malloc(500)); /* LEAK */
}

OWN_FRAME static void *late_leak(void)
{
	return keep(malloc(300)); /* LEAK */
}

OWN_FRAME static void *cache_fill(void)
{
	return keep(malloc(2000));
}

OWN_FRAME static void *set_up(void)
{
	return keep(malloc(700));
}

OWN_FRAME static void *churn(void)
{
	return keep(malloc(5000));
}

OWN_FRAME static void *sawtooth(void)
{
	return keep(malloc(400));
}

/*
 * Allocates 100 blocks and frees the 100 oldest ones. Called in each step: 10,000 blocks a second.
 */
static void turn_over(void)
{
	static size_t at;

	for (int i = 0; i < 10000 / PER_SECOND; i++, at = (at + 1) % QUEUE) {
		free(queue[at]);
		queue[at] = churn();
	}
}

static void tick(unsigned int now, unsigned int end)
{
	unsigned int tooth = now % ARRAY_SIZE(saw);

	turn_over();
	for (size_t i = 0; !tooth && i < ARRAY_SIZE(saw); i++)
		free(saw[i]);
	saw[tooth] = sawtooth();
	fast_leak();
	if (now % 20 == 0)
		slow_leak();
	if (now >= end / 3 && now % 10 == 0)
		late_leak();
	if (now < end / 4)
		cache_fill();
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned int end;

	must(argc == 2, "growing SECONDS");
	end = (unsigned int)atoi(argv[1]) * PER_SECOND;
	say("grows fast_leak late_leak slow_leak\n");
	say("stays churn sawtooth cache_fill set_up\n");
	ready();
	for (int i = 0; i < 1000; i++)
		set_up();
	for (unsigned int now = 0; poll(&input, 1, TICK_MS) == 0; now++) {
		tick(now, end);
		if (now + 1 == end)
			say("ready\n");
	}
	return 0;
}
