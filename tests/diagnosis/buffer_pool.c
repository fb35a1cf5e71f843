// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: unused buffers go to a free list; the number of buffers stays at its peak.
// expect: nothing
#include "server.h"

struct buffer {
	struct buffer *next;
	char data[3000];
};

static struct buffer *unused, *in_use[40];

static struct buffer *get_buffer(void)
{
	struct buffer *buffer = unused;

	if (!buffer)
		return calloc(1, sizeof(*buffer));
	unused = buffer->next;
	return buffer;
}

void handle_request(unsigned int number)
{
	struct buffer **place = &in_use[random_below(CNT(in_use))];

	if (*place) {
		(*place)->next = unused;
		unused = *place;
		*place = NULL;
	} else {
		*place = get_buffer();
	}
}
