/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the Host header of a request. By DNS rebinding, a hostile web site can make its own host
 * name resolve to memleak's address, and then read what memleak serves. To prevent this, memleak
 * accepts only names that no web site controls.
 */
#ifndef METRICS_HOST_H
#define METRICS_HOST_H

#include <stdbool.h>

/*
 * True if host is an address, localhost or this machine's name, with or without a port. Also true
 * for NULL: HTTP/1.0 requests may lack the header, but no browser sends them.
 */
bool host_is_ours(const char *host);

#endif
