// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: a cache that fills within 30 s and stays full.
// expect: nothing after 58 s
#include "server.h"

bool begins_watched = true;

static char *cache[1200];

static void cache_page(unsigned int number)
{
	char **place = &cache[number % CNT(cache)];

	if (!*place)
		*place = malloc(800);
	snprintf(*place, 800, "page %u", number);
}

void handle_request(unsigned int number)
{
	cache_page(number);
}
