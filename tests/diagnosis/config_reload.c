// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: the configuration is reloaded every 5 s, and then the old one is freed.
// expect: nothing
#include "server.h"

struct option {
	struct option *next;
	char text[90];
};

static struct option *options;

static struct option *read_options(unsigned int number)
{
	struct option *first = NULL, *option;

	for (unsigned int i = 0; i < 300; i++) {
		option = malloc(sizeof(*option));
		snprintf(option->text, sizeof(option->text), "option %u of %u", i, number);
		option->next = first;
		first = option;
	}
	return first;
}

static void free_options(struct option *option)
{
	while (option) {
		struct option *next = option->next;

		free(option);
		option = next;
	}
}

void handle_request(unsigned int number)
{
	struct option *old = options;

	if (number % 200)
		return;
	options = read_options(number);
	free_options(old);
}
