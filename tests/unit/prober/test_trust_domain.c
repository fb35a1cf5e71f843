// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which files the same users can change. */
#include "prober/trust_domain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static void differences(void **state)
{
	const struct trust_domain domain = {1, 9, 2, 3, 4, 0};
	const struct trust_domain others[] = {
		{0, 9, 2, 3, 4, 0}, {1, 9, 0, 3, 4, 0},       {1, 9, 2, 0, 4, 0},
		{1, 9, 2, 3, 0, 0}, {1, 9, 2, 3, 4, S_IWGRP},
	};
	const struct trust_domain another = {1, 8, 2, 3, 4, 0};

	assert_true(trust_domain_equal(&domain, &domain));
	assert_true(trust_domain_equal(&domain, &another));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(trust_domain_equal(&domain, &others[i]));
}

/* Other users may be able to write to two files. If they are one file, these are the same users. */
static void writers(void **state)
{
	const mode_t modes[] = {S_IWGRP, S_IWOTH, S_IWGRP | S_IWOTH};

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		const struct trust_domain domain = {1, 9, 2, 3, 4, modes[i]};
		const struct trust_domain another = {1, 8, 2, 3, 4, modes[i]};

		assert_true(trust_domain_equal(&domain, &domain));
		assert_false(trust_domain_equal(&domain, &another));
	}
}

static struct trust_domain domain_of(FILE *file)
{
	struct stat st;

	assert_int_equal(fstat(fileno(file), &st), 0);
	return trust_domain_of(fileno(file), &st);
}

/* Permissions of the owner do not matter, and neither do those to read. */
static void permissions(void **state)
{
	FILE *file = tmpfile();
	struct trust_domain before, now;

	assert_non_null(file);
	assert_int_equal(fchmod(fileno(file), 0700), 0);
	before = domain_of(file);
	assert_int_equal(before.uid, geteuid());
	assert_int_equal(fchmod(fileno(file), 0055), 0);
	now = domain_of(file);
	assert_true(trust_domain_equal(&before, &now));
	assert_int_equal(fchmod(fileno(file), 0720), 0);
	now = domain_of(file);
	assert_false(trust_domain_equal(&before, &now));
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences),
		cmocka_unit_test(writers),
		cmocka_unit_test(permissions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
