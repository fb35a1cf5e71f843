// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: a table of active requests, which grows and shrinks.
// expect: nothing
#include "server.h"

static unsigned int *table;
static size_t size = 16, used;

static void resize_table(size_t wanted)
{
	unsigned int *larger = calloc(wanted, sizeof(*table));

	must(larger, "calloc");
	if (table)
		memcpy(larger, table, (wanted < size ? wanted : size) * sizeof(*table));
	free(table);
	table = larger;
	size = wanted;
}

void start_up(void)
{
	resize_table(size);
}

/* Fills the table for 8 s, then empties it for 8 s, and so on. */
void handle_request(unsigned int number)
{
	if (number / 320 % 2 == 0) {
		if (used == size)
			resize_table(size * 2);
		table[used++] = number;
	} else if (used) {
		table[--used] = 0;
		if (size > 16 && used < size / 4)
			resize_table(size / 2);
	}
}
