// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: thread objects stay in a list until the server ends.
// expect: spawn_worker
#include <list>
#include <thread>

#include "server.h"

unsigned int requests_per_s = 20;

static std::list<std::thread> workers;

static void spawn_worker(unsigned int number)
{
	workers.emplace_back([number] { must(number + 1, "run"); }); // LEAK
}

void handle_request(unsigned int number)
{
	if (number % 2 == 0)
		spawn_worker(number);
}
