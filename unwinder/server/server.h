/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process that builds unwind tables and walks stacks. Requests are described in
 * protocol.h.
 */
#ifndef UNWINDER_SERVER_SERVER_H
#define UNWINDER_SERVER_SERVER_H

/* Serves requests on sock until the other end is closed. */
void unwind_server_main(int sock);

#endif
