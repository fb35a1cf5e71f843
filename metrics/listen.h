/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server of --listen: the last report over HTTP, to whoever asks. It has no thread: the main
 * loop lets it do what it can without waiting, whenever its descriptor is readable or its time
 * has come.
 */
#ifndef METRICS_LISTEN_H
#define METRICS_LISTEN_H

#include "metrics/metrics.h"
#include "options/listen_address.h"

struct server;

/* Takes the address and says on stderr which it is, or what failed. 0 or a negative errno. */
int server__new(const struct listen_address *address, struct server **ret);
void server__free(struct server *server);

int server__poll_fd(const struct server *server);
/* After so many milliseconds dispatch is to be called anyway; -1: no need. */
int server__timeout_ms(struct server *server);
void server__dispatch(struct server *server);

/* From now on this is what is served. Neither is kept; its own costs are added. */
void server__show(struct server *server, const struct report *report,
		  const struct counts_report *counts, size_t top);

#endif
