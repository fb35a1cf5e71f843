// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: all sent messages are kept until the server ends.
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
