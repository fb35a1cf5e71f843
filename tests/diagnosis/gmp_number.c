// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: numbers of many digits that are never cleared.
// expect: check_signature through __gmpz_pow_ui or __gmpz_n_pow_ui
// library: gmp (libgmp-dev)
#include <gmp.h>

#include "server.h"

static bool check_signature(unsigned int number)
{
	mpz_t value;

	mpz_init_set_ui(value, number + 2); // LEAK
	mpz_pow_ui(value, value, 300);      // LEAK
	return mpz_sgn(value) > 0;
}

void handle_request(unsigned int number)
{
	must(check_signature(number), "count");
}
