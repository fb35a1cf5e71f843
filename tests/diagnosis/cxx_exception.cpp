// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: an object held by a raw pointer when an exception is thrown.
// expect: build_query
#include <stdexcept>

#include "server.h"

struct Query {
	char text[400];
	__attribute__((noinline)) void bind(unsigned int value)
	{
		if (value % 5 == 0)
			throw std::invalid_argument("bind");
		text[0] = static_cast<char>(value);
	}
};

static void build_query(unsigned int number)
{
	Query *query = new Query; // LEAK

	query->bind(number);
	delete query;
}

void handle_request(unsigned int number)
{
	try {
		build_query(number);
	} catch (const std::invalid_argument &) {
	}
}
