// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: the number of connections follows the time of day; a day takes 30 s.
// expect: nothing after 40 s
// library: -lm
#include <math.h>

#include "server.h"

static char *connections[300];
static unsigned int open_now;

static void open_connection(void)
{
	connections[open_now] = malloc(900);
	snprintf(connections[open_now++], 900, "connection");
}

/*
 * Returns the number of connections that should be open at the given time. At time 0, the number is
 * half way between its minimum (night) and its maximum (day).
 */
static unsigned int wanted_at(double seconds)
{
	return (unsigned int)(150 + 140 * sin(seconds / 30 * 2 * 3.14159));
}

void start_up(void)
{
	while (open_now < wanted_at(0))
		open_connection();
}

void handle_request(unsigned int number)
{
	unsigned int wanted = wanted_at(uptime_s());

	while (open_now < wanted)
		open_connection();
	while (open_now > wanted)
		free(connections[--open_now]);
}
