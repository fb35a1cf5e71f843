// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the tree of each XML request.
// expect: parse_order through xmlReadMemory
// library: libxml-2.0 (libxml2-dev)
#include <libxml/parser.h>

#include "server.h"

static const char order[] = "<order id='7'><item sku='a1'>2</item><item sku='b2'>1</item></order>";

static bool parse_order(void)
{
	xmlDocPtr document = xmlReadMemory(order, sizeof(order) - 1, "order", NULL, 0); // LEAK

	return document && xmlDocGetRootElement(document);
}

void handle_request(unsigned int number)
{
	must(parse_order(), "parse XML");
}
