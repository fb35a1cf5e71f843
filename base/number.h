/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers in text, digit by digit: strtoul and its like also take signs, blanks, prefixes and the
 * locale's marks. It knows nothing of units.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* The value of a digit up to that of hex, in either case; 16: it is none. */
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
 * Takes all digits that follow at *at, up to end, or up to a NUL if end is NULL. base is at most
 * 16. 0; -EINVAL: there is none; -ERANGE: they are more than 64 bits hold, and *at is behind them.
 */
int number_take(const char **at, const char *end, unsigned int base, uint64_t *ret);

/*
 * Takes seconds with at most one point among their digits: "5", "0.5", ".5", "5.". *ret_unit_ns:
 * what the last digit counts. 0; -EINVAL: there is no digit; -ERANGE.
 */
int number_take_seconds(const char **at, uint64_t *ret_ns, uint64_t *ret_unit_ns);

/* The whole text as a decimal number within these bounds. 0; -EINVAL: it is none; -ERANGE. */
int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret);

#endif
