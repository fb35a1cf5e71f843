// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: replies of a store are freed only if they contain something new.
// expect: read_reply through redisReaderGetReply
// library: hiredis (libhiredis-dev)
#include <hiredis/hiredis.h>

#include "server.h"

static redisReader *reader;

void start_up(void)
{
	reader = redisReaderCreate();
}

static bool read_reply(bool is_new)
{
	static const char text[] = "*2\r\n$5\r\nalpha\r\n$4\r\nbeta\r\n";
	void *reply = NULL;

	redisReaderFeed(reader, text, sizeof(text) - 1);
	redisReaderGetReply(reader, &reply); // LEAK
	if (is_new)
		freeReplyObject(reply);
	return reply != NULL;
}

void handle_request(unsigned int number)
{
	must(read_reply(number % 3), "read");
}
