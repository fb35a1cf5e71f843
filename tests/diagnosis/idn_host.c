// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the ASCII form of each host name is never freed.
// expect: normalize_host through idn2_to_ascii_8z or idn2_lookup_u8
// library: libidn2 (libidn2-dev)
#include <idn2.h>

#include "server.h"

static bool normalize_host(const char *host)
{
	char *ascii;

	return idn2_to_ascii_8z(host, &ascii, 0) == IDN2_OK; // LEAK
}

void handle_request(unsigned int number)
{
	must(normalize_host("m\xc3\xbcnchen.example"), "convert");
}
