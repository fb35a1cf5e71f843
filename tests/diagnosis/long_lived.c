// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: about 200 connections at a time, which last from 1 to 60 s.
// expect: nothing
#include "server.h"

#define REQUESTS_PER_S 10

unsigned int requests_per_s = REQUESTS_PER_S;

/*
 * Open connections. Index: number of the request that closes the connection, modulo the array's
 * size.
 */
static char *connections[REQUESTS_PER_S * 61];

static void open_connection(unsigned int end)
{
	char **place = &connections[end % CNT(connections)];

	if (*place)
		return;
	*place = malloc(600);
	snprintf(*place, 600, "until %u", end);
}

/* Opens as many connections as a long-running server has. */
void start_up(void)
{
	for (unsigned int age = 0; age < REQUESTS_PER_S * 60; age++) {
		unsigned int lasts = REQUESTS_PER_S + random_below(REQUESTS_PER_S * 59);

		if (lasts > age)
			open_connection(lasts - age);
	}
}

void handle_request(unsigned int number)
{
	char **ended = &connections[number % CNT(connections)];

	free(*ended);
	*ended = NULL;
	open_connection(number + REQUESTS_PER_S + random_below(REQUESTS_PER_S * 59));
}
