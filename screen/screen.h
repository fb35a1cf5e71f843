/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live screen (--live): shows reports as they come, and says what keys ask for. It does not
 * know where reports come from. All but screen__show() is for the thread that waits for keys.
 */
#ifndef SCREEN_SCREEN_H
#define SCREEN_SCREEN_H

#include "options/options.h"
#include "screen/model.h"

struct screen;

/* There must be a terminal to draw on. 0 or a negative errno, and it has said what is wrong. */
int screen__new(const struct options *opts, struct screen **ret);
/* Gives the terminal back, and then says on stderr what was said meanwhile. */
void screen__free(struct screen *screen);

/* Takes the terminal over. From now on what memleak says is shown on it. The same. */
int screen__open(struct screen *screen);
/* Gives it back for good: nothing is drawn any more. */
void screen__close(struct screen *screen);

/* Readable when there is a key, or something to draw. */
int screen__poll_fd(const struct screen *screen);
/* Takes keys up to one that asks for something, or draws if there is none. 0 or a negative errno.
 */
int screen__next(struct screen *screen, enum screen_ask *ret);

/* From any thread whose turn it is. 0 or a negative errno. */
int screen__show(struct screen *screen, const struct report *report);

/* The next report is also written as a page, or the last one if there is none any more. */
void screen__want_page(struct screen *screen);

/* Whether the next report is to tell threads apart. */
bool screen__wants_threads(const struct screen *screen);

/* "memleak-20261125-170749.html": a name in this folder that no file has. NULL: no memory. */
char *screen__file_name(const char *suffix);

/* No report comes any more. */
void screen__end(struct screen *screen);
/* After that: until somebody leaves it, or a signal ends memleak. 0 or a negative errno. */
int screen__stay(struct screen *screen);

/* A recording: so many moments, of which one is shown next, and which is wanted. */
void screen__begin_moments(struct screen *screen, size_t cnt);
void screen__at_moment(struct screen *screen, size_t at);
size_t screen__wanted_moment(const struct screen *screen);

#endif
