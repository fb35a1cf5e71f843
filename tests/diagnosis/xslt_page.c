// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the result document of each transformation.
// expect: transform_page
// library: libxslt (libxslt1-dev)
#include <libxslt/transform.h>
#include <libxslt/xsltInternals.h>

#include "server.h"

static const char rules[] =
	"<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
	"<xsl:template match='/'><p><xsl:value-of select='page'/></p></xsl:template>"
	"</xsl:stylesheet>";
static xsltStylesheetPtr sheet;
static xmlDocPtr page;

void start_up(void)
{
	sheet = xsltParseStylesheetDoc(xmlReadMemory(rules, sizeof(rules) - 1, "x", NULL, 0));
	page = xmlReadMemory("<page>hello</page>", 18, "page", NULL, 0);
}

static bool transform_page(void)
{
	return xsltApplyStylesheet(sheet, page, NULL) != NULL; // LEAK
}

void handle_request(unsigned int number)
{
	must(transform_page(), "transform");
}
