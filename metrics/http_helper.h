/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process that serves the HTTP clients of a listening socket that memleak passes to it.
 * Each message from memleak begins with its type, enum http_request.
 */
#ifndef METRICS_HTTP_HELPER_H
#define METRICS_HTTP_HELPER_H

#include "helper/kind.h"

enum http_request {
	/*
	 * arguments: listening socket as descriptor; u32: 1 if the socket's address is a file, else
	 * 0. Reply: u32: 0 or -errno
	 */
	HTTP_LISTEN,
	/*
	 * arguments: u32: enum page_kind; descriptor of the page's contents, or none if there is no
	 * page. No reply
	 */
	HTTP_PAGE,
	HTTP_SHOWN, /* sent after all pages of a report; no arguments. Reply: u32: 0 */
};

extern const struct helper_kind http_helper;

#endif
