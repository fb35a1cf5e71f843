/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process that finds functions and probe places in files, and reads the memory of traced
 * processes. protocol.h describes its requests and answers.
 */
#ifndef PROBER_SERVER_SERVER_H
#define PROBER_SERVER_SERVER_H

/* Main function of the helper: handles requests from `sock` until the other end is closed. */
void prober_server_main(int sock);

#endif
