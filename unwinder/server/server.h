/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that builds unwind tables and walks stacks: protocol.h says what it is asked. */
#ifndef UNWINDER_SERVER_SERVER_H
#define UNWINDER_SERVER_SERVER_H

/* The process's whole life. */
void unwind_server_main(int sock);

#endif
