// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: a state snapshot every second, of varying size; the previous one is freed.
// expect: nothing
#include "server.h"

static char *current;

static char *take_snapshot(void)
{
	size_t size = 20000 + random_below(20000);
	char *snapshot = malloc(size);

	memset(snapshot, 1, size);
	return snapshot;
}

void handle_request(unsigned int number)
{
	char *before = current;

	if (number % 40)
		return;
	current = take_snapshot();
	free(before);
}
