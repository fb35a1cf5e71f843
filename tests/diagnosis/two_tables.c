// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: users move from a table of active users to a table of idle users, and are freed later.
// expect: nothing
#include "server.h"

static char *active[100], *idle[100];

static char *log_in(unsigned int number)
{
	char *user = malloc(250);

	snprintf(user, 250, "user %u", number);
	return user;
}

void handle_request(unsigned int number)
{
	unsigned int at = random_below(CNT(active));

	free(idle[at]);
	idle[at] = active[at];
	active[at] = log_in(number);
}
