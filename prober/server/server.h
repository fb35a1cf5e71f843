/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process that finds functions and probe places, and reads memory. Requests are
 * described in protocol.h.
 */
#ifndef PROBER_SERVER_SERVER_H
#define PROBER_SERVER_SERVER_H

/* Serves requests on sock until it is closed. */
void prober_server_main(int sock);

#endif
