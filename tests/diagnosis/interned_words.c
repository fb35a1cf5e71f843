// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: words are interned and never freed, but there are only 300 of them.
// expect: nothing after 45 s
#include "server.h"

bool begins_watched = true;

static char *words[300];

static const char *intern(unsigned int which)
{
	char word[60];

	snprintf(word, sizeof(word), "the word with number %u", which);
	if (!words[which])
		words[which] = strdup(word);
	return words[which];
}

void handle_request(unsigned int number)
{
	must(intern(random_below(CNT(words))), "intern");
}
