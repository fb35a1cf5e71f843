// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a list is freed, but not its elements' data.
// expect: list_members
// library: glib-2.0 (libglib2.0-dev)
#include <glib.h>

#include "server.h"

static guint list_members(unsigned int group)
{
	GList *members = NULL;
	guint cnt;

	for (unsigned int i = 0; i < 5; i++) {
		char *name = g_strdup_printf("member %u of %u", i, group); // LEAK

		members = g_list_prepend(members, name);
	}
	cnt = g_list_length(members);
	g_list_free(members);
	return cnt;
}

void handle_request(unsigned int number)
{
	must(list_members(number) == 5, "list");
}
