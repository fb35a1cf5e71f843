/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A debuginfod server of the test's own. */
#ifndef TESTS_UNIT_SYMBOLIZER_DEBUGINFOD_H
#define TESTS_UNIT_SYMBOLIZER_DEBUGINFOD_H

#include <stdbool.h>
#include <sys/types.h>

/* A server on a port of this machine, which has not yet accepted anybody. */
int listen_here(void);
void forget_server(int sock);
bool has_debuginfod(void);
/* Answers one request with a file of the folder, once go can be read. */
pid_t serve(int sock, const char *name, int go);

#endif
