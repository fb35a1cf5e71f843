// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: the last 1000 lines of a log; for 25 s, only lines from before tracing are replaced.
// expect: nothing after 28 s
#include "server.h"

static char *lines[1000];

static void log_request(unsigned int number)
{
	char line[200];
	char **place = &lines[number % CNT(lines)];

	snprintf(line, sizeof(line), "%.3f request %u took %u us", uptime_s(), number,
		 random_below(100000));
	free(*place);
	*place = strdup(line);
}

void start_up(void)
{
	for (unsigned int i = 0; i < CNT(lines); i++)
		log_request(i);
}

void handle_request(unsigned int number)
{
	log_request(number);
}
