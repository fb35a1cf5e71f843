// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: each request allocates a user name that is never freed.
// The program's cache does not leak: it was full before tracing, and each new page evicts a page.
// expect: note_user
#include "server.h"

static char *cache[8000];

static void cache_page(unsigned int number)
{
	size_t size = 500 + random_below(2000);
	char **place = &cache[number % CNT(cache)];

	free(*place);
	*place = malloc(size);
	must(*place, "malloc");
	snprintf(*place, size, "page %u", number);
}

static void note_user(unsigned int number)
{
	char *user = malloc(40); // LEAK

	must(user, "malloc");
	snprintf(user, 40, "user %u", number);
}

void start_up(void)
{
	for (unsigned int i = 0; i < CNT(cache); i++)
		cache_page(i);
}

void handle_request(unsigned int number)
{
	cache_page(number);
	note_user(number);
}
