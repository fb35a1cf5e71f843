/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses unsigned numbers digit by digit, since strtoul() also accepts signs, blanks and prefixes.
 * Does not parse units.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the value of a hex digit in upper or lower case; 16 if c is not a hex digit. */
static inline unsigned int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned int)(c - 'A') + 10;
	return 16;
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Parses the digits at *at, up to the first other character or to `end` (NULL: no limit), and moves
 * *at past the digits. `base` is at most 16. Returns 0, -EINVAL if there is no digit, or -ERANGE if
 * the number has more than 64 bits.
 */
int number_take(const char **at, const char *end, unsigned int base, uint64_t *ret);

/*
 * Parses seconds with an optional decimal point: "5", "0.5", ".5", "5.". *ret_unit_ns is the value,
 * in nanoseconds, of one unit of the last digit. Returns 0, -EINVAL if there is no digit, or
 * -ERANGE if the time has more than 64 bits.
 */
int number_take_seconds(const char **at, uint64_t *ret_ns, uint64_t *ret_unit_ns);

/*
 * Parses a text that must be a decimal number from min to max. Returns 0, -EINVAL if it is not a
 * decimal number, or -ERANGE if it is outside min to max.
 */
int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret);

#endif
