/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions for tests of the symbolizer: make a temporary folder and files in it, start the test
 * program as a child, and call a function at a known address.
 */
#ifndef TESTS_UNIT_SYMBOLIZER_KNOWN_H
#define TESTS_UNIT_SYMBOLIZER_KNOWN_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "symbolizer/state.h"
#include "symbolizer/symbolizer.h"
#include "tests/unit/lib/process.h"

/* Time limit in milliseconds for a name that must be found */
#define BUDGET_MS PATIENCE_MS

static inline int64_t now_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000);
}

extern char *folder;

int make_folder(void **state);
int remove_folder(void **state);
/* Returns the path of a file in the folder. The last eight returned paths stay valid. */
const char *in_folder(const char *name);
/*
 * Runs a shell command in the folder, with $CC (the compiler) and $SELF (the test program). Returns
 * false if it fails.
 */
bool run(const char *command);
/* Skips a test and prints the reason, which cmocka's skip() does not print. */
#define SKIP(why)                                                                                  \
	do {                                                                                       \
		print_message("skipped: %s\n", why);                                               \
		skip();                                                                            \
	} while (0)

/* A call at a known return address and line. */
struct known {
	uint64_t addr;
	unsigned int line;
};

#ifdef __clang__
#define noinline_function __attribute__((noinline, optnone))
#else
#define noinline_function __attribute__((noinline, noclone, noipa))
#endif

uint64_t return_address(void);
struct known known_function(void);
/*
 * The main function of "PROGRAM child": writes its own struct known to stdout and waits until stdin
 * is closed.
 */
int child_main(void);

struct child {
	pid_t pid;
	int in; /* write end of the child's stdin; closing it ends the child */
	struct known known;
};

/* Starts the program `path` as a child that runs child_main(). */
struct child child_start(const char *path);
void child_end(struct child *child);
const struct sym_location *resolve_one(struct symspace *space, uint64_t addr, bool exact,
				       unsigned int budget_ms);
bool ends_with(const char *text, const char *end);
void assert_unnamed(const struct sym_location *loc);
/* Checks the function of `loc`, and its line if with_line is set. */
void assert_known(const struct sym_location *loc, const struct known *known, bool with_line);

#endif
