// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: timers of connections are deleted but not freed.
// expect: arm_timeout through event_new
// library: libevent_core (libevent-dev)
#include <event2/event.h>

#include "server.h"

static struct event_base *base;

void start_up(void)
{
	base = event_base_new();
}

static void on_timeout(evutil_socket_t fd, short what, void *data)
{
}

static void arm_timeout(void)
{
	struct event *timeout = event_new(base, -1, EV_TIMEOUT, on_timeout, NULL); // LEAK
	struct timeval second = {.tv_sec = 1};

	event_add(timeout, &second);
	event_del(timeout);
}

void handle_request(unsigned int number)
{
	arm_timeout();
	event_base_loop(base, EVLOOP_NONBLOCK);
}
