// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: results of getaddrinfo().
// expect: resolve_peer
#include <netdb.h>

#include "server.h"

static int resolve_peer(const char *host)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *answer;

	return getaddrinfo(host, "80", &hints, &answer); // LEAK
}

void handle_request(unsigned int number)
{
	must(!resolve_peer("127.0.0.1"), "resolve");
}
