/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages over HTTP, to whoever connects to a socket. It has no thread: who has it lets it do what it
 * can without waiting, whenever its descriptor is readable or its time has come.
 */
#ifndef METRICS_WEB_SERVER_H
#define METRICS_WEB_SERVER_H

#include <stdbool.h>

#include "metrics/pages.h"

struct web_server;

/* Loads libmicrohttpd, for all servers of this process: it needs files. */
void web_server_prepare(void);

/*
 * fd: a socket that listens; it is the server's if all goes well. local: its address is a file. 0
 * or a negative errno; -ELIBACC: there is no libmicrohttpd.
 */
int web_server__new(int fd, bool local, struct web_server **ret);
void web_server__free(struct web_server *server);

int web_server__poll_fd(const struct web_server *server);
/* After so many milliseconds dispatch is to be called anyway; -1: no need. */
int web_server__timeout_ms(struct web_server *server);
void web_server__dispatch(struct web_server *server);

/* From now on this page is what the file holds, which is not changed any more; -1: there is none.
 */
void web_server__show(struct web_server *server, enum page_kind kind, int fd);

#endif
