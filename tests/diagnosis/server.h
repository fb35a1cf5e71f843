// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A small server that answers made-up requests at a steady rate. The code in server.c does not
 * leak; each program defines its own handle_request().
 */
#ifndef TESTS_DIAGNOSIS_SERVER_H
#define TESTS_DIAGNOSIS_SERVER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CNT(array) (sizeof(array) / sizeof((array)[0]))

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Each program defines handle_request(). It may also define start_up(), which runs before the first
 * request, and the variables requests_per_s (40 if not defined) and begins_watched (false if not
 * defined).
 */
void handle_request(unsigned int number);
void start_up(void);
extern unsigned int requests_per_s;
extern bool begins_watched; /* true to call handle_request() only once memleak traces the program */

/* Defined in server.c. */
unsigned int random_below(unsigned int end);
/* Returns the seconds since the first request. */
double uptime_s(void);
/* Exits with code 99 if `holds` is false: the program cannot run as intended. */
void must(bool holds, const char *what);

#ifdef __cplusplus
}
#endif
#endif
