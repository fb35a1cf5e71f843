// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A small server: it answers made-up requests at a steady rate. What server.c allocates is in
 * order. Each program has a handle_request() of its own.
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

/* The program's: what a request does, what comes before the first, and how many there are. */
void handle_request(unsigned int number);
void start_up(void);
extern unsigned int requests_per_s;
extern bool begins_watched; /* its first request comes when memleak traces, not before */

/* The server's. */
unsigned int random_below(unsigned int end);
/* Since the first request. */
double uptime_s(void);
/* A program that cannot do its part exits with 99. */
void must(bool holds, const char *what);

#ifdef __cplusplus
}
#endif
#endif
