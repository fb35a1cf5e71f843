/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process that speaks with clients: it has no rights but to answer whoever connects to
 * the socket that it is given. Each request begins with what it is; sizes and shapes are said
 * there.
 */
#ifndef METRICS_HTTP_HELPER_H
#define METRICS_HTTP_HELPER_H

#include "helper/kind.h"

enum http_request {
	HTTP_LISTEN, /* fd: a socket that listens; u32: its address is a file. Answer: u32, an errno
			below 0, or 0 */
	HTTP_PAGE,   /* u32: enum page_kind; fd: its bytes; none: there is no such page */
	HTTP_SHOWN,  /* all pages of a report have come. Answer: u32 0 */
};

extern const struct helper_kind http_helper;

#endif
