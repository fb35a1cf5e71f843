// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: an iconv descriptor for each name.
// expect: convert_name
#include <iconv.h>

#include "server.h"

static bool convert_name(const char *name)
{
	char text[64], out[64], *from = text, *to = out;
	size_t left = strlen(name), room = sizeof(out);
	iconv_t converter = iconv_open("UTF-16LE", "UTF-8"); // LEAK

	strcpy(text, name);
	return converter != (iconv_t)-1 && iconv(converter, &from, &left, &to, &room) == 0; // LEAK
}

void handle_request(unsigned int number)
{
	must(convert_name("J\xc3\xbcrgen"), "convert");
}
