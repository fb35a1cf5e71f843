/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receives requests as signals. The signals are blocked and read from a descriptor, so that
 * requests made before tracing begins are not lost.
 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <stdbool.h>

enum request {
	REQUEST_NONE,
	REQUEST_END,      /* SIGINT, SIGTERM, and SIGHUP unless ignored at the start */
	REQUEST_REPORT,   /* SIGUSR1: make a report now */
	REQUEST_BASELINE, /* SIGUSR2: begin a new baseline */
};

/* Blocks SIGUSR1 and SIGUSR2, and stops ignoring SIGINT. Must be called first. */
int signals_hold_requests(void);
/* Also blocks termination signals, which until then end memleak at once. */
int signals_hold_all(void);
/* Unblocks termination signals, so that they end memleak at once during a long final report. */
void signals_release_end(void);
/* Discards pending termination signals, which are being handled, and unblocks later ones. */
void signals_renew_end(void);

/* True if a termination signal is pending and was not read. */
bool signals_end_pending(void);

/* Returns a descriptor to read requests from, or a negative errno. */
int signals_open(void);
enum request signals_read(int fd);

#endif
