/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receives requests to memleak as signals. The signals are blocked and read from a descriptor, so
 * that requests made before tracing begins are not lost.
 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <stdbool.h>

enum request {
	REQUEST_NONE,
	/* SIGINT, SIGTERM, or SIGHUP (unless it was ignored at the start): end memleak */
	REQUEST_END,
	REQUEST_REPORT,   /* SIGUSR1: make a report now */
	REQUEST_BASELINE, /* SIGUSR2: leave out what was allocated so far */
};

/*
 * Blocks SIGUSR1 and SIGUSR2, and stops ignoring SIGINT. Call this before all other functions of
 * this file.
 */
int signals_hold_requests(void);
/*
 * Blocks termination signals, too; before this call, they end memleak immediately. Also ignores
 * SIGPIPE and SIGXFSZ.
 */
int signals_hold_all(void);
/*
 * Unblocks termination signals, so that they end memleak immediately, even during a long final
 * report.
 */
void signals_release_end(void);
/*
 * Discards pending termination signals, which memleak is handling already. Then unblocks
 * termination signals, so that later ones end memleak immediately.
 */
void signals_renew_end(void);

/* True if a termination signal is pending and has not been read from the descriptor. */
bool signals_end_pending(void);

/* Returns a descriptor from which requests are read, or a negative errno. */
int signals_open(void);
enum request signals_read(int fd);

#endif
