// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: each result of getaddrinfo() is freed before the next one is requested.
// expect: nothing
#include <netdb.h>

#include "server.h"

static struct addrinfo *last;

void handle_request(unsigned int number)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};

	if (last)
		freeaddrinfo(last);
	last = NULL;
	must(!getaddrinfo("127.0.0.1", "80", &hints, &last), "resolve");
}
