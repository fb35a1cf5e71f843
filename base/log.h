/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes log lines with the prefix "memleak: " to stderr. An error is logged once, by the code that
 * knows the name of the file or process concerned; libraries (symbolizer, snapshot, ranking,
 * report, sinks) never log.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>

/*
 * Passes log lines, each ending in a newline, to take() instead, in the thread that logs. If stderr
 * is not a terminal, lines are also written there. NULL ends this.
 */
void log_divert(void (*take)(void *arg, const char *line, size_t len), void *arg);

/* Sets the verbosity: 0 logs errors and notes; 1 is -v; 2 is -vv. */
void log_set_verbosity(unsigned int verbosity);
unsigned int log_verbosity(void);

/* Escapes control bytes in the text, since names come from hostile targets. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
