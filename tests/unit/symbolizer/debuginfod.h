/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A debuginfod server run by the test. */
#ifndef TESTS_UNIT_SYMBOLIZER_DEBUGINFOD_H
#define TESTS_UNIT_SYMBOLIZER_DEBUGINFOD_H

#include <stdbool.h>
#include <sys/types.h>

/* Listens on a local port without accepting connections yet, and makes clients use that port. */
int listen_here(void);
void forget_server(int sock);
bool has_debuginfod(void);
/*
 * Starts a process that answers one request with the file `name` of the folder, as soon as the
 * descriptor `go` is readable.
 */
pid_t serve(int sock, const char *name, int go);

#endif
