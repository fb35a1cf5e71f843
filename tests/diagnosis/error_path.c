// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the reply buffer is not freed on an error path, which one request in ten takes.
// expect: answer
#include "server.h"

static bool answer(unsigned int number)
{
	char *reply = malloc(2000); // LEAK

	snprintf(reply, 2000, "request %u", number);
	if (number % 10 == 3)
		return false;
	free(reply);
	return true;
}

void handle_request(unsigned int number)
{
	answer(number);
}
