// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: sessions are added to a list and never expire.
// expect: open_session
#include "server.h"

struct session {
	struct session *next;
	char user[56];
};

static struct session *sessions;

static void open_session(unsigned int number)
{
	struct session *session = malloc(sizeof(*session)); // LEAK

	snprintf(session->user, sizeof(session->user), "user %u", number);
	session->next = sessions;
	sessions = session;
}

void handle_request(unsigned int number)
{
	if (number % 4 == 0)
		open_session(number);
}
