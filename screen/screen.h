/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live screen (--live): shows reports as they arrive, and returns the requests that the user
 * makes by keys. Does not know where reports come from. One thread handles keys and calls all
 * functions but screen__show(), which another thread may call.
 */
#ifndef SCREEN_SCREEN_H
#define SCREEN_SCREEN_H

#include "options/options.h"
#include "screen/model.h"

struct screen;

/* Creates a screen; needs a terminal. Returns 0, or a negative errno after logging the failure. */
int screen__new(const struct options *opts, struct screen **ret);
/* Closes the screen, if it is open, and frees it. */
void screen__free(struct screen *screen);

/*
 * Starts to draw on the terminal; from then on, log messages appear on the screen. Returns 0, or a
 * negative errno after logging the failure.
 */
int screen__open(struct screen *screen);
/*
 * Restores the terminal, and prints the latest messages to stderr if stderr is a terminal. The
 * screen cannot be opened again.
 */
void screen__close(struct screen *screen);

/* Returns a descriptor that is readable when there is a key to handle or something to draw. */
int screen__poll_fd(const struct screen *screen);
/*
 * Handles keys until one of them makes a request that the caller must carry out: *ret. If none
 * does, sets *ret to ASK_NOTHING and draws the screen; if the terminal is gone, sets *ret to
 * ASK_QUIT. Returns 0 or a negative errno.
 */
int screen__next(struct screen *screen, enum screen_ask *ret);

/*
 * Shows a report, and the load that tracing has caused since the previous report. The calling
 * thread must own the lock of base/fair_lock.h. Returns 0 or a negative errno.
 */
int screen__show(struct screen *screen, const struct report *report, struct screen_load load);

/*
 * Requests that an HTML page of the next report be saved to a file. If tracing has ended, saves the
 * page of the final report at once.
 */
void screen__want_page(struct screen *screen);

/* True if the next report must list the threads of each stack. */
bool screen__wants_threads(const struct screen *screen);

/*
 * Returns a file name such as "memleak-20261125-170749.html"; NULL if out of memory. Tries 100
 * names to find one that is not in use.
 */
char *screen__file_name(const char *suffix);

/* Must be called when there will be no more reports. */
void screen__end(struct screen *screen);
/*
 * Handles keys after screen__end(), until the user quits or a signal ends memleak. Returns 0 or a
 * negative errno.
 */
int screen__stay(struct screen *screen);

/*
 * For recordings, whose reports ("moments") are numbered from 0. screen__begin_moments() sets their
 * number, screen__at_moment() sets which one is shown next, and screen__wanted_moment() returns the
 * one that the user has requested.
 */
void screen__begin_moments(struct screen *screen, size_t cnt);
void screen__at_moment(struct screen *screen, size_t at);
size_t screen__wanted_moment(const struct screen *screen);

#endif
