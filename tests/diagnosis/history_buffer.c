// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: one buffer, which every request enlarges by realloc().
// expect: append_history
#include "server.h"

static char *history;
static size_t size;

static void append_history(unsigned int number)
{
	history = realloc(history, size + 64); // LEAK
	snprintf(history + size, 64, "request %u", number);
	size += 64;
}

void handle_request(unsigned int number)
{
	append_history(number);
}
