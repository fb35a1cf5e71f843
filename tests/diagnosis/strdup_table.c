// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: names in a table are replaced without freeing the old ones.
// expect: rename_user
#include "server.h"

char *names[32];

static void rename_user(unsigned int user, const char *name)
{
	names[user] = strdup(name); // LEAK
}

void handle_request(unsigned int number)
{
	char name[64];

	snprintf(name, sizeof(name), "user who was renamed by request %u", number);
	rename_user(number % CNT(names), name);
}
