/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process that serves HTTP clients. It answers only clients that connect to the socket
 * that memleak passes to it. Each request from memleak begins with its type, enum http_request.
 */
#ifndef METRICS_HTTP_HELPER_H
#define METRICS_HTTP_HELPER_H

#include "helper/kind.h"

enum http_request {
	/* fd: listening socket; u32: 1 if its address is a file. Reply: u32 0 or -errno */
	HTTP_LISTEN,
	HTTP_PAGE, /* u32: enum page_kind; fd: contents of the page, or no fd if there is no page */
	HTTP_SHOWN, /* sent after all pages of a report. Reply: u32 0 */
};

extern const struct helper_kind http_helper;

#endif
