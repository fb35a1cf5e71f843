/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a test program communicates with the runner: it prints what is outstanding since memleak was
 * attached, then "ready", then waits for a byte. So nothing depends on timing.
 *
 *  leak FUNCTION COUNT BYTES             heap blocks allocated in FUNCTION
 *  mapping FUNCTION COUNT BYTES KIND     mappings (KIND is mmap, reserve or stack) or
 *                                        descriptors (KIND is descriptor; BYTES is COUNT)
 *  block ADDRESS SIZE                    one outstanding block
 *  NAME VALUE...                         anything else that a case needs
 *
 * The lines before a "ready" are valid until the next "ready". A source line that leaves a block
 * outstanding must have the comment LEAK: the runner requires that reports name a line with this
 * comment. Unlike printf(), say() allocates nothing.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__GNUC__) && !defined(__clang__)
#define OWN_FRAME __attribute__((noinline, noclone, noipa))
#else
#define OWN_FRAME __attribute__((noinline))
#endif

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Returns p. Keeps the compiler from dropping the call that returned p, and from making it a tail
 * call.
 */
static inline void *keep(void *p)
{
	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

__attribute__((format(printf, 1, 2))) static inline void say(const char *fmt, ...)
{
	char line[512];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(line) || write(STDOUT_FILENO, line, len) != len)
		_exit(99);
}

static inline void leaks(const char *function, size_t count, size_t bytes)
{
	say("leak %s %zu %zu\n", function, count, bytes);
}

static inline void maps(const char *function, size_t count, size_t bytes, const char *kind)
{
	say("mapping %s %zu %zu %s\n", function, count, bytes, kind);
}

/*
 * If `holds` is false, prints an explanation and exits with code 99, because the program then
 * cannot do its part.
 */
static inline void must(int holds, const char *what)
{
	if (holds)
		return;
	say("broken %s\n", what);
	_exit(99);
}

/* Waits for a byte from the runner; exits if the runner has ended. */
static inline void wait_byte(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) != 1)
		_exit(0);
}

static inline void ready(void)
{
	say("ready\n");
	wait_byte();
}

/* Leaks one block after everything else, so that an empty report is always wrong. */
OWN_FRAME __attribute__((unused)) static void marker(void)
{
	must(keep(malloc(24)) != NULL, "malloc"); /* LEAK */
	leaks("marker", 1, 24);
}

#endif
