// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses numbers, with checks for overflow. */
#include "base/number.h"

#include <errno.h>
#include <stddef.h>

#define NSEC_PER_SEC 1000000000ULL

int number_take(const char **at, const char *end, unsigned int base, uint64_t *ret)
{
	const char *start = *at;
	uint64_t value = 0;
	bool fits = true;

	for (; *at != end && digit_value(**at) < base; ++*at)
		fits = fits && !__builtin_mul_overflow(value, (uint64_t)base, &value) &&
		       !__builtin_add_overflow(value, (uint64_t)digit_value(**at), &value);
	if (*at == start)
		return -EINVAL;
	if (!fits)
		return -ERANGE;
	*ret = value;
	return 0;
}

int number_take_seconds(const char **at, uint64_t *ret_ns, uint64_t *ret_unit_ns)
{
	const char *start = *at;
	uint64_t ns = 0, unit = NSEC_PER_SEC;
	int err = is_digit(*start) ? number_take(at, NULL, 10, &ns) : 0;
	bool fits = !err && !__builtin_mul_overflow(ns, NSEC_PER_SEC, &ns);

	if (**at == '.' && (*at != start || is_digit(start[1])))
		for (++*at; is_digit(**at); ++*at) {
			unit /= 10;
			fits = fits &&
			       !__builtin_add_overflow(ns, unit * (uint64_t)(**at - '0'), &ns);
		}
	if (*at == start)
		return -EINVAL;
	if (!fits)
		return -ERANGE;
	*ret_ns = ns;
	*ret_unit_ns = unit ? unit : 1;
	return 0;
}

int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t value;
	int err = number_take(&text, NULL, 10, &value);

	if (err == -EINVAL || *text)
		return -EINVAL;
	if (err || value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}
