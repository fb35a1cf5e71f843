// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a cache without a size limit.
// expect: cache_page
#include <map>
#include <string>

#include "server.h"

static std::map<unsigned int, std::string> cache;

static void cache_page(unsigned int number)
{
	cache[number] = std::string(200, 'x'); // LEAK
}

void handle_request(unsigned int number)
{
	if (number % 2)
		cache_page(number);
}
