// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which Host headers of HTTP requests are accepted. */
#include "metrics/host.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void ours(void **state)
{
	static const char *const hosts[] = {"127.0.0.1",    "10.1.2.3:9435", "[::1]",
					    "[fe80::1]:80", "localhost",     "LocalHost:1",
					    "0.0.0.0:65535"};
	char own[HOST_NAME_MAX + 1] = "", with_port[HOST_NAME_MAX + 8];

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		assert_true(host_is_ours(hosts[i]));
	assert_true(host_is_ours(NULL));
	assert_int_equal(gethostname(own, sizeof(own) - 1), 0);
	snprintf(with_port, sizeof(with_port), "%s:9435", own);
	assert_true(host_is_ours(own));
	assert_true(host_is_ours(with_port));
}

static void of_others(void **state)
{
	static const char *const hosts[] = {
		"",
		"evil.example",
		"localhost.evil.example",
		"127.0.0.1.evil.example",
		"127.0.0.1:",
		"127.0.0.1:x",
		"127.0.0.1:65536",
		"127.0.0.1:1:2",
		"[::1",
		"[::1]x",
		"[127.0.0.1]",
		"::1",
		"[]",
		":80",
		"127.1",
		"localhost:80@evil.example",
	};
	char long_name[HOST_NAME_MAX + 100];

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		if (host_is_ours(hosts[i]))
			fail_msg("\"%s\" is accepted", hosts[i]);
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_false(host_is_ours(long_name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ours),
		cmocka_unit_test(of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
