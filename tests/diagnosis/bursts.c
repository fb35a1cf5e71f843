// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: every 7 s, a burst of 500 jobs arrives; the jobs are done one after another.
// expect: nothing
#include "server.h"

static char *jobs[500];
static unsigned int waiting;

static void take_jobs(unsigned int number)
{
	while (waiting < CNT(jobs)) {
		jobs[waiting] = malloc(150);
		snprintf(jobs[waiting++], 150, "job of %u", number);
	}
}

void handle_request(unsigned int number)
{
	if (number % 280 == 0)
		take_jobs(number);
	for (int i = 0; i < 2 && waiting; i++)
		free(jobs[--waiting]);
}
