// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: a sliding window of 10 s of measurements.
// expect: nothing
#include <deque>
#include <string>

#include "server.h"

struct Measurement {
	double at;
	std::string what;
};

static std::deque<Measurement> window;

static void measure(unsigned int number)
{
	window.push_back({uptime_s(), "request number " + std::to_string(number)});
	while (window.front().at < uptime_s() - 10)
		window.pop_front();
}

void handle_request(unsigned int number)
{
	measure(number);
}
