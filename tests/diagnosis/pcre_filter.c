// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: match data is created for each request and never freed.
// expect: filter_agent through pcre2_match_8
// library: libpcre2-8 (libpcre2-dev)
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "server.h"

static pcre2_code *robots;

void start_up(void)
{
	size_t at;
	int code;

	robots = pcre2_compile((PCRE2_SPTR) "(bot|crawler)/([0-9]+)", PCRE2_ZERO_TERMINATED, 0,
			       &code, &at, NULL);
}

static bool filter_agent(const char *agent)
{
	pcre2_match_data *found = pcre2_match_data_create_from_pattern(robots, NULL); // LEAK

	return pcre2_match(robots, (PCRE2_SPTR)agent, strlen(agent), 0, 0, found, NULL) > 0; // LEAK
}

void handle_request(unsigned int number)
{
	char agent[32];

	snprintf(agent, sizeof(agent), "crawler/%u", number);
	must(filter_agent(agent), "match");
}
