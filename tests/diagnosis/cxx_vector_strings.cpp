// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: what was sent is remembered as long as the server lives.
// expect: audit
#include <string>
#include <vector>

#include "server.h"

static std::vector<std::string> sent;

static void audit(unsigned int number)
{
	sent.push_back("request " + std::to_string(number) + " was answered with 200 OK"); // LEAK
}

void handle_request(unsigned int number)
{
	audit(number);
}
