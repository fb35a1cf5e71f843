// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: sessions end 5 s after their last use.
// expect: nothing
#include "server.h"

struct session {
	double end;
	char data[700];
};

static struct session *sessions[400];

static void use_session(unsigned int user)
{
	if (!sessions[user])
		sessions[user] = calloc(1, sizeof(struct session));
	sessions[user]->end = uptime_s() + 5;
}

static void expire_sessions(void)
{
	for (size_t i = 0; i < CNT(sessions); i++) {
		if (!sessions[i] || sessions[i]->end > uptime_s())
			continue;
		free(sessions[i]);
		sessions[i] = NULL;
	}
}

void handle_request(unsigned int number)
{
	use_session(random_below(CNT(sessions)));
	expire_sessions();
}
