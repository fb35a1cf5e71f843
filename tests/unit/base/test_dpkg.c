// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the search for the package of a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/dpkg.h"

static void write_list(const char *folder, const char *name, const char *text)
{
	cleanup_free char *path = NULL;
	FILE *file;

	assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void owners(void **state)
{
	static const char *const expected[][2] = {
		{"/usr/bin/shop", "shop"},           {"/usr/lib/libshop.so.1", "libshop1"},
		{"/lib/libshop.so.1", "libshop1"},   {"/usr/bin/sho", NULL},
		{"/usr/bin/shop-tools", NULL},       {"/usr/share/shop", "shop"},
		{"/opt/usr/lib/libshop.so.1", NULL},
	};
	char folder[] = "/tmp/memleak-dpkg-XXXXXX";

	assert_non_null(mkdtemp(folder));
	write_list(folder, "shop.list", "/.\n/usr\n/usr/bin/shop\n/usr/share/shop");
	write_list(folder, "libshop1:amd64.list", "/.\n/lib/libshop.so.1\n");
	write_list(folder, "shop.md5sums", "/usr/bin/shop-tools\n");
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		cleanup_free char *package = dpkg_package_of(folder, expected[i][0]);

		if (!expected[i][1])
			assert_null(package);
		else
			assert_string_equal(package, expected[i][1]);
	}
	assert_null(dpkg_package_of("/nonexistent", "/usr/bin/shop"));
	assert_int_equal(chdir(folder), 0);
	unlink("shop.list");
	unlink("libshop1:amd64.list");
	unlink("shop.md5sums");
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
