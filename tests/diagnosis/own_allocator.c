// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: strings that are allocated by the program's own wrapper of malloc().
// expect: save_string or parse_cookie
#include "server.h"

static void *xmalloc(size_t size)
{
	void *memory = malloc(size);

	must(memory, "malloc");
	return memory;
}

static char *save_string(const char *text)
{
	return strcpy(xmalloc(strlen(text) + 1), text); // LEAK
}

static size_t parse_cookie(unsigned int number)
{
	char text[64], *cookie;

	snprintf(text, sizeof(text), "id=%u; theme=dark", number);
	cookie = save_string(text); // LEAK
	return strcspn(cookie, ";");
}

void handle_request(unsigned int number)
{
	must(parse_cookie(number) > 3, "parse");
}
