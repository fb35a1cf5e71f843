// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a command's stream is never closed.
// expect: ask_status
#include "server.h"

unsigned int requests_per_s = 5;

static bool ask_status(void)
{
	FILE *answer = popen("echo fine", "r"); // LEAK
	char line[16];

	return answer && fgets(line, sizeof(line), answer); // LEAK
}

void handle_request(unsigned int number)
{
	must(ask_status(), "ask");
}
