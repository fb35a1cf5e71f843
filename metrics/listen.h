/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --listen: serves the latest report over HTTP. A helper process without privileges serves the
 * clients. After the start, memleak does not wait for the helper.
 */
#ifndef METRICS_LISTEN_H
#define METRICS_LISTEN_H

#include "metrics/metrics.h"
#include "options/listen_address.h"

struct metrics_server;

/*
 * Opens the socket, starts the helper, and logs the address or the failure. Returns 0 or a negative
 * errno.
 */
int server__new(const struct listen_address *address, struct metrics_server **ret);
void server__free(struct metrics_server *server);

/* Returns a descriptor that is readable when server__dispatch() must be called. */
int server__poll_fd(const struct metrics_server *server);
void server__dispatch(struct metrics_server *server);

/*
 * Serves this report from now on, together with memleak's own cost. If the helper has not replied
 * about the previous report yet, skips this report. Keeps no reference to `report` or `counts`.
 * top: maximum number of rows of --count.
 */
void server__show(struct metrics_server *server, const struct report *report,
		  const struct counts_report *counts, size_t top);

#endif
