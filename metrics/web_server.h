/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves pages over HTTP to clients of a socket. Has no thread: the caller must call
 * web_server__dispatch(), which does not block, whenever the descriptor from web_server__poll_fd()
 * is readable or the timeout from web_server__timeout_ms() has passed.
 */
#ifndef METRICS_WEB_SERVER_H
#define METRICS_WEB_SERVER_H

#include <stdbool.h>

#include "metrics/pages.h"

struct web_server;

/*
 * Loads libmicrohttpd, which all servers of this process use. Must be called before the process
 * gives up its access to files.
 */
void web_server_prepare(void);

/*
 * Creates a server. `fd` is a listening socket, which the server owns on success. `local` is true
 * for a Unix socket with a file. Returns 0, -ELIBACC without libmicrohttpd, or another negative
 * errno.
 */
int web_server__new(int fd, bool local, struct web_server **ret);
void web_server__free(struct web_server *server);

int web_server__poll_fd(const struct web_server *server);
/*
 * Returns the time in milliseconds after which web_server__dispatch() must be called even if the
 * descriptor is not readable; -1 if only the descriptor matters.
 */
int web_server__timeout_ms(struct web_server *server);
void web_server__dispatch(struct web_server *server);

/*
 * Replaces a page by the contents of the file `fd`, which must not change. If `fd` is -1, removes
 * the page. The caller still owns `fd`.
 */
void web_server__show(struct web_server *server, enum page_kind kind, int fd);

#endif
