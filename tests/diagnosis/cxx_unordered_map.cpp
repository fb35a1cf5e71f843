// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a counter for each address ever seen.
// expect: count_visitor
#include <string>
#include <unordered_map>

#include "server.h"

static std::unordered_map<std::string, unsigned int> visits;

static void count_visitor(unsigned int number)
{
	std::string address = "2001:db8::" + std::to_string(number / 2) + ".example.net";

	visits[address]++; // LEAK
}

void handle_request(unsigned int number)
{
	count_visitor(number);
}
