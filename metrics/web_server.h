/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves pages over HTTP to clients of a socket. Has no thread: the caller calls
 * web_server__dispatch() whenever the descriptor is readable or the timeout has passed; it does not
 * block.
 */
#ifndef METRICS_WEB_SERVER_H
#define METRICS_WEB_SERVER_H

#include <stdbool.h>

#include "metrics/pages.h"

struct web_server;

/* Loads libmicrohttpd for all servers of this process, before file access is dropped. */
void web_server_prepare(void);

/*
 * Creates a server. fd: a listening socket, which the server owns on success. local: its address is
 * a file. Returns 0, -ELIBACC without libmicrohttpd, or another negative errno.
 */
int web_server__new(int fd, bool local, struct web_server **ret);
void web_server__free(struct web_server *server);

int web_server__poll_fd(const struct web_server *server);
/*
 * Returns the time after which dispatch must be called in any case, in milliseconds; -1 for never.
 */
int web_server__timeout_ms(struct web_server *server);
void web_server__dispatch(struct web_server *server);

/*
 * Serves the contents of fd as this page from now on; the file must not change. fd -1 removes the
 * page.
 */
void web_server__show(struct web_server *server, enum page_kind kind, int fd);

#endif
