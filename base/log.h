/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes log lines with the prefix "memleak: " to stderr. The code that knows the name of what
 * failed logs it, once; libraries (symbolizer, snapshot, ranking, report, sinks) never log.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>

/* 0: errors and notes; 1: -v; 2: -vv */
/*
 * Diverts lines, which end in a newline, to take(), called in the thread that logs. If stderr is
 * not a terminal, lines are also written there. NULL ends diversion.
 */
void log_divert(void (*take)(void *arg, const char *line, size_t len), void *arg);

void log_set_verbosity(unsigned int verbosity);
unsigned int log_verbosity(void);

/* Control bytes are escaped, since names come from hostile targets. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
