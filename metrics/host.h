/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the Host header of a request. By DNS rebinding, a web page can resolve its own name to our
 * address and read what is served. So only names that nobody else can point at us are accepted.
 */
#ifndef METRICS_HOST_H
#define METRICS_HOST_H

#include <stdbool.h>

/*
 * True if host is an address, localhost or this machine's name, with or without a port; also for
 * NULL, as from HTTP/1.0, which no browser uses.
 */
bool host_is_ours(const char *host);

#endif
