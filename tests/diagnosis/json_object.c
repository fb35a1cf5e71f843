// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the JSON tree of each request.
// expect: parse_body through json_tokener_parse
// library: json-c (libjson-c-dev)
#include <json-c/json.h>

#include "server.h"

static bool parse_body(unsigned int number)
{
	struct json_object *body, *user;
	char text[100];

	snprintf(text, sizeof(text), "{\"user\": \"u%u\", \"tags\": [1, 2, 3]}", number);
	body = json_tokener_parse(text); // LEAK
	return json_object_object_get_ex(body, "user", &user);
}

void handle_request(unsigned int number)
{
	must(parse_body(number), "parse JSON");
}
