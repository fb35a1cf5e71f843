/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What memleak is asked for by signals. They are blocked and read from a descriptor, so those that
 * come before tracing has begun wait for it.
 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <stdbool.h>

enum request {
	REQUEST_NONE,
	REQUEST_END,      /* SIGINT, SIGTERM, and SIGHUP unless it was ignored at the start */
	REQUEST_REPORT,   /* SIGUSR1 */
	REQUEST_BASELINE, /* SIGUSR2 */
};

/* To be called first: SIGUSR1 and SIGUSR2 wait, and SIGINT is not ignored any more. */
int signals_hold_requests(void);
/* From now on signals to end wait as well; until then they end memleak at once. */
int signals_hold_all(void);
/* The final report may take a while: from now on a signal to end does so at once. */
void signals_release_end(void);
/* Signals to end that come from now on do so at once: what earlier ones asked for is being done. */
void signals_renew_end(void);

/* Whether a signal to end has come and was not read. */
bool signals_end_pending(void);

/* A descriptor to read requests from, or a negative errno. */
int signals_open(void);
enum request signals_read(int fd);

#endif
