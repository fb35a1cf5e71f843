// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a header built by asprintf() is never freed.
// expect: make_cookie
#include "server.h"

static int make_cookie(unsigned int number)
{
	char *cookie;

	return asprintf(&cookie, "Set-Cookie: session=%08x; Path=/; HttpOnly", number); // LEAK
}

void handle_request(unsigned int number)
{
	must(make_cookie(number) > 0, "print");
}
