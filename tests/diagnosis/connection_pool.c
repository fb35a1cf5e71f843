// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: pooled connections, each of which is freed and replaced only after about 40 s.
// expect: nothing after 70 s
#include "server.h"

struct connection {
	unsigned int uses;
	char buffer[4096];
};

static struct connection *pool[16];

static struct connection *connect_backend(void)
{
	return calloc(1, sizeof(struct connection));
}

void handle_request(unsigned int number)
{
	struct connection **place = &pool[random_below(CNT(pool))];

	if (!*place)
		*place = connect_backend();
	snprintf((*place)->buffer, sizeof((*place)->buffer), "query %u", number);
	if (++(*place)->uses < 100)
		return;
	free(*place);
	*place = NULL;
}
