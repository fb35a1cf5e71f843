// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a route's expression is compiled for each request and never freed.
// expect: match_route
#include <regex.h>

#include "server.h"

static bool match_route(const char *path)
{
	regex_t route;

	must(!regcomp(&route, "^/page/[0-9]+$", REG_EXTENDED | REG_NOSUB), "regcomp"); // LEAK
	return !regexec(&route, path, 0, NULL, 0);                                     // LEAK
}

void handle_request(unsigned int number)
{
	char path[32];

	snprintf(path, sizeof(path), "/page/%u", number);
	must(match_route(path), "match");
}
