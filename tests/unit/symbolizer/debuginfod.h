/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A debuginfod server, which the test itself runs. */
#ifndef TESTS_UNIT_SYMBOLIZER_DEBUGINFOD_H
#define TESTS_UNIT_SYMBOLIZER_DEBUGINFOD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Listens on a local port, without accepting connections yet, and makes debuginfod clients use this
 * port.
 */
int listen_here(void);
void forget_server(int sock);
bool has_debuginfod(void);
/*
 * Starts a process that answers one request by sending the file `name` of the test's folder, once
 * the descriptor `go` is readable.
 */
pid_t serve(int sock, const char *name, int go);

#endif
