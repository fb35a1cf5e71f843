/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Escapes text for terminals, since names come from hostile programs. */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Decodes the UTF-8 character at `bytes` and returns its length, 1 to 4. Returns 0 if it is
 * invalid: a stray or missing continuation byte, an overlong form, a surrogate, or a code point
 * above U+10FFFF. len is at least 1.
 */
size_t utf8_decode(const char *bytes, size_t len, uint32_t *ret);

/*
 * True if the character is safe to print. False for C0 and C1 controls, DEL, and characters that
 * are invisible or change the text direction (bidirectional overrides, zero width, tags).
 */
bool is_plain_character(uint32_t character);

/*
 * Returns the length of the longest prefix of `bytes` in which all characters are printable ASCII
 * and none is in `except`.
 */
size_t ascii_run(const char *bytes, size_t len, const char *except);

/* Writes bytes as UTF-8. Unsafe characters and invalid UTF-8 are written as \xNN, byte by byte. */
void escape_write(FILE *out, const char *bytes, size_t len);
void escape_puts(FILE *out, const char *text);
/* Returns the escaped text, from malloc(); NULL if out of memory. */
char *escape_dup(const char *text);

#endif
