// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a vector of measurements that only grows, in ever larger steps.
// expect: record_latency within 60 s
#include <vector>

#include "server.h"

bool begins_watched = true;

struct Latency {
	double at, seconds;
	char request[48];
};

static std::vector<Latency> latencies;

static void record_latency(unsigned int number)
{
	Latency latency = {uptime_s(), number / 1e6, "page"};

	latencies.push_back(latency); // LEAK
}

void handle_request(unsigned int number)
{
	record_latency(number);
}
