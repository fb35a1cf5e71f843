// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: an array that grows by doubling during the first 15 s, and is then kept.
// expect: nothing after 40 s
#include "server.h"

bool begins_watched = true;

static unsigned int *entries;
static size_t size, used;

static void add_entry(unsigned int number)
{
	if (used == size) {
		size = size ? 2 * size : 8;
		entries = realloc(entries, size * sizeof(*entries));
	}
	entries[used++] = number;
}

void handle_request(unsigned int number)
{
	if (number < 600)
		add_entry(number);
}
