// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: thirty features, each of which allocates on first use.
// expect: nothing after 45 s
#include "server.h"

bool begins_watched = true;

static char *features[30];

static void use_feature(unsigned int which)
{
	if (!features[which])
		features[which] = malloc(2000 + which);
	snprintf(features[which], 2000, "feature %u", which);
}

void handle_request(unsigned int number)
{
	if (number % 8 == 0)
		use_feature(random_below(CNT(features)));
}
