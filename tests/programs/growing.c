// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * growing SECONDS: calls functions that hold memory in different ways. Functions that leak are
 * printed as `grows FUNCTION BYTES_PER_SECOND ...`, functions that do not as `stays FUNCTION ...`.
 */
#include <stdbool.h>
#include <time.h>

#include "truth.h"

#define TICK_NS 10000000
#define PER_SECOND (1000000000 / TICK_NS)
#define QUEUE 10000
#define SAW_SECONDS 12

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

/* Allocates 10,000 blocks a second and frees the oldest ones. */
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
	if (now % PER_SECOND == 0)
		slow_leak();
	if (now >= end / 3 && now % 10 == 0)
		late_leak();
	if (now < end / 4)
		cache_fill();
}

int main(int argc, char **argv)
{
	unsigned int end = (unsigned int)atoi(argv[1]) * PER_SECOND;
	struct timespec at;

	must(argc == 2, "growing SECONDS");
	say("grows slow_leak 100 fast_leak %d late_leak %d\n", 500 * PER_SECOND,
	    300 * PER_SECOND / 10);
	say("stays churn sawtooth cache_fill set_up\n");
	ready();
	for (int i = 0; i < 1000; i++)
		set_up();
	clock_gettime(CLOCK_MONOTONIC, &at);
	for (unsigned int now = 0; now < end; now++) {
		at.tv_nsec += TICK_NS;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		tick(now, end);
	}
	ready();
	return 0;
}
