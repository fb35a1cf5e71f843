// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a queue whose reader is slower than its writer.
// expect: enqueue
#include "server.h"

struct message {
	struct message *next;
	char text[300];
};

static struct message *first, **end = &first;

static void enqueue(unsigned int number)
{
	struct message *message = calloc(1, sizeof(*message)); // LEAK

	snprintf(message->text, sizeof(message->text), "message %u", number);
	*end = message;
	end = &message->next;
}

static void deliver(void)
{
	struct message *message = first;

	if (!message)
		return;
	first = message->next;
	if (!first)
		end = &first;
	free(message);
}

void handle_request(unsigned int number)
{
	enqueue(number);
	if (number % 3)
		deliver();
}
