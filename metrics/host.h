/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Host of a request. A page in somebody's browser may have a name of its own lead to our
 * address ("DNS rebinding"), and read what is served there by it: so only names that nobody else
 * can give to us are answered.
 */
#ifndef METRICS_HOST_H
#define METRICS_HOST_H

#include <stdbool.h>

/*
 * Whether it is an address, localhost or the machine's own name, with or without a port. NULL, as
 * from HTTP/1.0: it is no browser.
 */
bool host_is_ours(const char *host);

#endif
