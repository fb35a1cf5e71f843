// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: each request subscribes to events, and none unsubscribes.
// expect: subscribe
#include <functional>
#include <list>
#include <string>

#include "server.h"

struct Reader {
	std::string name;
	void operator()(const std::string &news) const
	{
		must(news != name, "read");
	}
};

static std::list<std::function<void(const std::string &)>> listeners;

static void subscribe(unsigned int number)
{
	listeners.push_back(Reader{"request number " + std::to_string(number)}); // LEAK
}

void handle_request(unsigned int number)
{
	if (number % 4 == 0)
		subscribe(number);
}
