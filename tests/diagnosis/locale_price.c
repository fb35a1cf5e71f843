// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a locale object for each printed price.
// expect: print_price
#include <locale.h>

#include "server.h"

static int print_price(unsigned int cents)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL), before; // LEAK
	char price[32];
	int size;

	must(locale != NULL, "C.UTF-8");
	before = uselocale(locale);
	size = snprintf(price, sizeof(price), "%u.%02u", cents / 100, cents % 100);
	uselocale(before);
	return size;
}

void handle_request(unsigned int number)
{
	must(print_price(number) > 0, "print");
}
