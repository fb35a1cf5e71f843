// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: data is loaded in the first 8 s and never freed; nothing is added later.
// expect: nothing after 30 s
#include "server.h"

bool begins_watched = true;

static char *catalog[1000];

static void load_catalog(unsigned int part)
{
	for (unsigned int i = part; i < part + 3 && i < CNT(catalog); i++) {
		catalog[i] = malloc(300);
		snprintf(catalog[i], 300, "item %u", i);
	}
}

void handle_request(unsigned int number)
{
	if (number * 3 < CNT(catalog))
		load_catalog(number * 3);
}
