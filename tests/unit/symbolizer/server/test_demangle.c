// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests demangling names as compilers make them, and hostile names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "helper/message.h"
#include "symbolizer/server/demangle.h"

static void becomes(const char *mangled, const char *expected)
{
	cleanup_free char *name = demangle(mangled);

	assert_non_null(name);
	assert_string_equal(name, expected);
}

static void of_compilers(void **state)
{
	becomes("_ZNSt6vectorIiSaIiEE9push_backEOi",
		"std::vector<int, std::allocator<int> >::push_back(int&&)");
	becomes("_ZN7mycrate3foo17h0123456789abcdefE", "mycrate::foo");
	becomes("_RNvCs1234_7mycrate3foo", "mycrate::foo");
}

static void not_mangled(void **state)
{
	becomes("main", "main");
	becomes("", "");
	becomes("_Z", "_Z");
	becomes("_R", "_R");
}

/* For an empty part of a name, libiberty may pass NULL to its callback, which must not crash. */
static void empty_parts(void **state)
{
	cleanup_free char *name = demangle("_RNVC0s134_7_RNVCs134_7my");

	assert_non_null(name);
}

/*
 * Each parameter's type refers twice to the type of the previous parameter, so the full name would
 * not fit into memory.
 */
static void endless(void **state)
{
	char mangled[512] = "_Z1fIiE1AI1BS_S_E";
	cleanup_free char *name = NULL;

	for (char at = '0'; at <= '9'; at++)
		for (size_t i = 0; i < 4; i++) {
			size_t len = strlen(mangled);

			snprintf(mangled + len, sizeof(mangled) - len, "1AIS%c_S%c_E", at, at);
		}
	name = demangle(mangled);
	assert_non_null(name);
	assert_true(strlen(name) <= MESSAGE_STRING_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_compilers),
		cmocka_unit_test(not_mangled),
		cmocka_unit_test(empty_parts),
		cmocka_unit_test(endless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
