// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: a cache that was full before tracing and evicts an entry for each new one.
// expect: nothing
#include "server.h"

static char *cache[500];

static void cache_page(unsigned int number)
{
	size_t size = 500 + random_below(2000);
	char **place = &cache[number % CNT(cache)];

	free(*place);
	*place = malloc(size);
	snprintf(*place, size, "page %u", number);
}

void start_up(void)
{
	for (unsigned int i = 0; i < CNT(cache); i++)
		cache_page(i);
}

void handle_request(unsigned int number)
{
	cache_page(number);
}
