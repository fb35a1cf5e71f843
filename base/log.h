/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What memleak says on stderr: "memleak: " and one line. Only code that can name the thing
 * logs, once; libraries (symbolizer, snapshot, ranking, report, sinks) never do.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>

/* 0: errors and notes, 1: -v, 2: -vv */
/*
 * From now on lines, which end in a newline, are given to take, by whichever thread has something
 * to say; on a stderr that is no terminal they are written all the same. NULL: to stderr again.
 */
void log_divert(void (*take)(void *arg, const char *line, size_t len), void *arg);

void log_set_verbosity(unsigned int verbosity);
unsigned int log_verbosity(void);

/* Control bytes in what is printed are shown escaped: names come from hostile targets. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
