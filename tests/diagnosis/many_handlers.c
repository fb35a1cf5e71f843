// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: each of 512 handlers returns a copy of the request, which dispatch() does not free.
// expect: dispatch
#include "server.h"

#define EACH_8(use, n)                                                                             \
	use(n##0) use(n##1) use(n##2) use(n##3) use(n##4) use(n##5) use(n##6) use(n##7)
#define EACH_64(use, n)                                                                            \
	EACH_8(use, n##0)                                                                          \
	EACH_8(use, n##1)                                                                          \
	EACH_8(use, n##2)                                                                          \
	EACH_8(use, n##3)                                                                          \
	EACH_8(use, n##4) EACH_8(use, n##5) EACH_8(use, n##6) EACH_8(use, n##7)
#define EACH_512(use)                                                                              \
	EACH_64(use, 0)                                                                            \
	EACH_64(use, 1)                                                                            \
	EACH_64(use, 2)                                                                            \
	EACH_64(use, 3)                                                                            \
	EACH_64(use, 4) EACH_64(use, 5) EACH_64(use, 6) EACH_64(use, 7)

#define DEFINE(n)                                                                                  \
	static char *handle_##n(const char *request)                                               \
	{                                                                                          \
		char *copy = strdup(request);                                                      \
                                                                                                   \
		must(copy, "strdup");                                                              \
		return copy;                                                                       \
	}
#define NAME(n) handle_##n,

EACH_512(DEFINE)

unsigned int requests_per_s = 1024;

static char *(*const handlers[])(const char *) = {EACH_512(NAME)};

static void dispatch(unsigned int number)
{
	char request[60];

	snprintf(request, sizeof(request), "request number %u of a customer", number);
	must(handlers[number % CNT(handlers)](request)[0] == 'r', "request"); // LEAK
}

void handle_request(unsigned int number)
{
	dispatch(number);
}
