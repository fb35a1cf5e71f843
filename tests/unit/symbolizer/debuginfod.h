/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A debuginfod server, which the test itself runs. */
#ifndef TESTS_UNIT_SYMBOLIZER_DEBUGINFOD_H
#define TESTS_UNIT_SYMBOLIZER_DEBUGINFOD_H

#include <stdbool.h>
#include <sys/types.h>

/* Listens on a local port without accepting yet, and makes debuginfod clients use it. */
int listen_here(void);
void forget_server(int sock);
bool has_debuginfod(void);
/*
 * Starts a process that answers one request with the file `name` of the test's folder, once `go` is
 * readable.
 */
pid_t serve(int sock, const char *name, int go);

#endif
