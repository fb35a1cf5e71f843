/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --listen: the last report over HTTP, to whoever asks. A helper process without rights speaks with
 * clients; nothing here waits for it.
 */
#ifndef METRICS_LISTEN_H
#define METRICS_LISTEN_H

#include "metrics/metrics.h"
#include "options/listen_address.h"

struct server;

/* Takes the address and says on stderr which it is, or what failed. 0 or a negative errno. */
int server__new(const struct listen_address *address, struct server **ret);
void server__free(struct server *server);

/* Readable when dispatch has something to do: the helper may have ended. */
int server__poll_fd(const struct server *server);
void server__dispatch(struct server *server);

/* From now on this is what is served. Neither is kept; its own costs are added. */
void server__show(struct server *server, const struct report *report,
		  const struct counts_report *counts, size_t top);

#endif
