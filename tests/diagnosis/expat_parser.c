// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a parser for each feed.
// expect: read_feed through XML_ParserCreate or XML_Parse
// library: expat (libexpat1-dev)
#include <expat.h>

#include "server.h"

static bool read_feed(const char *text)
{
	XML_Parser parser = XML_ParserCreate("UTF-8"); // LEAK

	return XML_Parse(parser, text, (int)strlen(text), 1) == XML_STATUS_OK; // LEAK
}

void handle_request(unsigned int number)
{
	if (number % 4 == 0)
		must(read_feed("<feed><entry title='one'/><entry title='two'/></feed>"), "parse");
}
