/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process that parses ELF and DWARF for the library. Requests are described in
 * protocol.h.
 */
#ifndef SYMBOLIZER_SERVER_SERVER_H
#define SYMBOLIZER_SERVER_SERVER_H

/* Serves requests on sock until the client closes its end. */
void symbolizer_server_main(int sock);

#endif
