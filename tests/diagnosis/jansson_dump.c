// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the JSON text of each reply is never freed; the JSON tree is.
// expect: send_reply through json_dumps
// library: jansson (libjansson-dev)
#include <jansson.h>

#include "server.h"

static size_t send_reply(unsigned int number)
{
	json_t *reply = json_pack("{s:s, s:i}", "status", "ok", "number", (int)number);
	char *text = json_dumps(reply, JSON_INDENT(2)); // LEAK

	json_decref(reply);
	return strlen(text);
}

void handle_request(unsigned int number)
{
	must(send_reply(number) > 10, "dump JSON");
}
