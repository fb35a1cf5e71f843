// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the parsed options of a connection string.
// expect: check_address through PQconninfoParse
// library: libpq (libpq-dev)
#include <libpq-fe.h>

#include "server.h"

unsigned int requests_per_s = 20;

static bool check_address(const char *address)
{
	PQconninfoOption *options = PQconninfoParse(address, NULL); // LEAK

	return options && options[0].keyword;
}

void handle_request(unsigned int number)
{
	must(check_address("host=db port=5432 user=web"), "parse");
}
