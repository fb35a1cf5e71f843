/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that finds functions and where to probe them: protocol.h says what it is asked. */
#ifndef PROBER_SERVER_SERVER_H
#define PROBER_SERVER_SERVER_H

/* The process's whole life. */
void prober_server_main(int sock);

#endif
