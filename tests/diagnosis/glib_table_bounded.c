// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: a table that holds the last 300 requests and frees removed entries.
// expect: nothing
// library: glib-2.0 (libglib2.0-dev)
#include <glib.h>

#include "server.h"

static GHashTable *recent;

void start_up(void)
{
	recent = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
}

static void remember_request(unsigned int number)
{
	g_hash_table_insert(recent, GUINT_TO_POINTER(number),
			    g_strdup_printf("request %u", number));
	g_hash_table_remove(recent, GUINT_TO_POINTER(number - 300));
}

void handle_request(unsigned int number)
{
	remember_request(number);
}
