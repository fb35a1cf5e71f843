// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: a queue that is emptied every 10 s.
// expect: nothing
#include "server.h"

static char *queue[400];
static size_t waiting;

static void enqueue(unsigned int number)
{
	queue[waiting] = malloc(400);
	snprintf(queue[waiting++], 400, "job %u", number);
}

void handle_request(unsigned int number)
{
	if (waiting == CNT(queue))
		while (waiting)
			free(queue[--waiting]);
	enqueue(number);
}
