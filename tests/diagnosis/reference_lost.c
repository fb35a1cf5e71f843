// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: one buffer in five gets a second reference, which is never dropped.
// expect: make_buffer
#include "server.h"

struct buffer {
	unsigned int references;
	char data[500];
};

static struct buffer *make_buffer(unsigned int number)
{
	struct buffer *buffer = malloc(sizeof(*buffer)); // LEAK

	buffer->references = 1;
	snprintf(buffer->data, sizeof(buffer->data), "reply %u", number);
	return buffer;
}

static void put_buffer(struct buffer *buffer)
{
	if (!--buffer->references)
		free(buffer);
}

void handle_request(unsigned int number)
{
	struct buffer *buffer = make_buffer(number);

	if (number % 5 == 0)
		buffer->references++;
	put_buffer(buffer);
}
