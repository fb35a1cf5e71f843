// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: when a route changes, its old expression is freed and the new one compiled.
// expect: nothing
#include <regex.h>

#include "server.h"

static regex_t routes[8];
static bool known[CNT(routes)];

static void compile_route(unsigned int at)
{
	if (known[at])
		regfree(&routes[at]);
	known[at] = !regcomp(&routes[at], "^/page/[0-9]+(/edit)?$", REG_EXTENDED | REG_NOSUB);
}

void handle_request(unsigned int number)
{
	unsigned int at = random_below(CNT(routes));

	if (!known[at] || number % 20 == 0)
		compile_route(at);
	regexec(&routes[at], "/page/1", 0, NULL, 0);
}
