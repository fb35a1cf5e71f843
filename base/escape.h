/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names come from hostile programs: this tells what of them a terminal may see. It knows UTF-8
 * and nothing of reports.
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Decodes the character at bytes and returns its length, 1 to 4; 0 if there is none: a stray or
 * missing continuation, an overlong form, a surrogate, or beyond U+10FFFF. len is at least 1.
 */
size_t utf8_decode(const char *bytes, size_t len, uint32_t *ret);

/*
 * Whether a terminal shows the character as itself. Not so: C0 and C1 controls, DEL, and all that
 * is invisible or turns the direction of writing (bidirectional overrides, zero width, tags).
 */
bool is_plain_character(uint32_t character);

/* How many bytes at the start are printable ASCII and not in except. */
size_t ascii_run(const char *bytes, size_t len, const char *except);

/* Writes bytes as UTF-8; each byte of what is not plain, or not UTF-8, becomes \xNN. */
void escape_write(FILE *out, const char *bytes, size_t len);
void escape_puts(FILE *out, const char *text);
/* The escaped text, from malloc; NULL: no memory. */
char *escape_dup(const char *text);

#endif
