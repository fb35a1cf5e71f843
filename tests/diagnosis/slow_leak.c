// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a small block every two seconds, each time a bad request is logged.
// expect: log_complaint within 50 s
#include "server.h"

char *last;

static void log_complaint(unsigned int number)
{
	char text[64];

	snprintf(text, sizeof(text), "request %u: bad header", number);
	last = strdup(text); // LEAK
}

void handle_request(unsigned int number)
{
	if (number % 80 == 79)
		log_complaint(number);
}
