// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the text returned by g_string_free().
// expect: render_status through g_string_append_printf
// library: glib-2.0 (libglib2.0-dev)
#include <glib.h>

#include "server.h"

static size_t render_status(unsigned int number)
{
	GString *status = g_string_new("{");

	for (int i = 0; i < 10; i++)
		g_string_append_printf(status, "\"worker %d\": %u,", i, number); // LEAK
	return strlen(g_string_free(status, FALSE));
}

void handle_request(unsigned int number)
{
	must(render_status(number) > 10, "render");
}
