/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes log lines with the prefix "memleak: " to stderr. An error is logged once, by the code that
 * knows the name of the file or process concerned; the code in report/ and recording/ never logs.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>

/*
 * From now on, take() is called with each log line, including its newline, in the thread that logs.
 * Lines are also written to stderr unless stderr is a terminal. If `take` is NULL, lines are
 * written to stderr only.
 */
void log_divert(void (*take)(void *arg, const char *line, size_t len), void *arg);

/* Sets the verbosity: 0, 1 (-v) or 2 (-vv). With 0, log_verbose() logs nothing. */
void log_set_verbosity(unsigned int verbosity);
unsigned int log_verbosity(void);

/* Log a message. Unsafe characters are escaped, since names come from hostile targets. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
