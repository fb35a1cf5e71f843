/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process that parses ELF and DWARF for the symbolizer library. protocol.h describes its
 * requests and answers.
 */
#ifndef SYMBOLIZER_SERVER_SERVER_H
#define SYMBOLIZER_SERVER_SERVER_H

/* Main function of the helper: handles requests from `sock` until the client closes its end. */
void symbolizer_server_main(int sock);

#endif
