/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that parses ELF and DWARF for the library: protocol.h says what it is asked. */
#ifndef SYMBOLIZER_SERVER_SERVER_H
#define SYMBOLIZER_SERVER_SERVER_H

/* The process's whole life. */
void symbolizer_server_main(int sock);

#endif
