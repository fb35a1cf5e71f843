// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: each user's last action is stored in a table; the replaced values are not freed.
// expect: remember_action
// library: glib-2.0 (libglib2.0-dev)
#include <glib.h>

#include "server.h"

static GHashTable *last_actions;

void start_up(void)
{
	last_actions = g_hash_table_new(g_direct_hash, g_direct_equal);
}

static void remember_action(unsigned int user, const char *action)
{
	g_hash_table_insert(last_actions, GUINT_TO_POINTER(user), g_strdup(action)); // LEAK
}

void handle_request(unsigned int number)
{
	char action[100];

	snprintf(action, sizeof(action), "request %u, with a note of some length", number);
	remember_action(number % 20, action);
}
