// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: reference-counted strings, freed with the last reference.
// expect: nothing
#include "server.h"

struct shared {
	unsigned int references;
	char text[120];
};

static struct shared *held[200];

static struct shared *make_string(unsigned int number)
{
	struct shared *string = malloc(sizeof(*string));

	string->references = 0;
	snprintf(string->text, sizeof(string->text), "string %u", number);
	return string;
}

static void hold(unsigned int at, struct shared *string)
{
	string->references++;
	if (held[at] && !--held[at]->references)
		free(held[at]);
	held[at] = string;
}

void handle_request(unsigned int number)
{
	struct shared *string = make_string(number);

	for (int i = 0; i < 3; i++)
		hold(random_below(CNT(held)), string);
}
