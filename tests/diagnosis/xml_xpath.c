// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the results of XPath queries; their contexts and documents are freed.
// expect: find_items through xmlXPathEvalExpression or xmlXPathEval
// library: libxml-2.0 (libxml2-dev)
#include <libxml/parser.h>
#include <libxml/xpath.h>

#include "server.h"

static const char order[] = "<order><item sku='a1'>2</item><item sku='b2'>1</item></order>";

static int find_items(xmlDocPtr document)
{
	xmlXPathContextPtr context = xmlXPathNewContext(document);
	xmlXPathObjectPtr items = xmlXPathEvalExpression(BAD_CAST "//item[@sku]", context); // LEAK

	xmlXPathFreeContext(context);
	return items->nodesetval->nodeNr;
}

void handle_request(unsigned int number)
{
	xmlDocPtr document = xmlReadMemory(order, sizeof(order) - 1, "order.xml", NULL, 0);

	must(find_items(document) == 2, "find items");
	xmlFreeDoc(document);
}
