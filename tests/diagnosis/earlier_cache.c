// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: a cache that was full before tracing, and evicts its oldest entry for each new one.
// Entries stay for minutes, so only entries from before tracing are evicted during the test.
// expect: nothing known
#include "server.h"

#include <string.h>

struct entry {
	char *key;
	char *page;
};

static struct entry *cache[8000];

static void cache_page(unsigned int number)
{
	struct entry **place = &cache[number % CNT(cache)], *entry = *place;
	char key[32];

	if (entry) {
		free(entry->key);
		free(entry->page);
		free(entry);
	}
	snprintf(key, sizeof(key), "page %u", number);
	entry = malloc(sizeof(*entry));
	must(entry, "malloc");
	entry->key = strdup(key);
	entry->page = malloc(500 + random_below(2000));
	*place = entry;
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
